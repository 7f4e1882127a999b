#include "pipeline/decode/upon_gray.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "pipeline/decode/matte_internal.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {
namespace {

constexpr int kGround = 128;

std::uint8_t with_ground(int multiplied, int alpha) {
  return static_cast<std::uint8_t>(std::min(255, multiplied + composed_over(kGround, 0, alpha)));
}

}  // namespace

void compose_on_gray(Image& rows, ImageView alpha, bool is_multiplied) {
  if (rows.height_px != alpha.height_px || rows.width_px != alpha.width_px) {
    throw Error("the alpha channel and its picture differ in size");
  }
  std::uint8_t* value = rows.pixels.data();
  for (int y = 0; y < alpha.height_px; ++y) {
    const std::uint8_t* opacity = alpha.row(y);
    for (int x = 0; x < alpha.width_px; ++x, ++opacity) {
      for (int c = 0; c < rows.channels; ++c, ++value) {
        *value = is_multiplied ? with_ground(*value, *opacity)
                               : composed_over(kGround, *value, *opacity);
      }
    }
  }
}

Image alpha_at_scale(const DecodedImage& image, int scale) {
  if (image.alpha.pixels.empty() || scale == 1) return image.alpha;
  return box_average(image.alpha.view(), scale);
}

Image as_seen(DecodedImage image, int scale) {
  const Image alpha = alpha_at_scale(image, scale);
  const bool is_multiplied = image.is_multiplied;
  Image seen(std::move(image));
  if (!alpha.pixels.empty()) compose_on_gray(seen, alpha.view(), is_multiplied);
  return seen;
}

}  // namespace winnow::pipeline
