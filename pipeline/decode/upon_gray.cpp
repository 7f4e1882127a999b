#include "pipeline/decode/upon_gray.h"

#include "pipeline/decode/matte_internal.h"

namespace winnow::pipeline {

void lay_upon_gray(Image& rows, ImageView alpha) {
  constexpr int kGround = 128;
  std::uint8_t* value = rows.pixels.data();
  for (int y = 0; y < alpha.height_px; ++y) {
    const std::uint8_t* opacity = alpha.row(y);
    for (int x = 0; x < alpha.width_px; ++x, ++opacity) {
      for (int c = 0; c < rows.channels; ++c, ++value) {
        *value = laid_upon(kGround, *value, *opacity);
      }
    }
  }
}

}  // namespace winnow::pipeline
