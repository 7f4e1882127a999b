#include "pipeline/decode/shrink.h"

#include <algorithm>
#include <cstdint>

#include "common/resample.h"

namespace winnow::pipeline {

std::optional<Image> shrink(ImageView image, int short_side) {
  const int shorter = std::min(image.height_px, image.width_px);
  if (short_side < 1 || shorter <= short_side) return std::nullopt;
  const auto side = [&](int of_image) {
    return static_cast<int>(std::int64_t{short_side} * of_image / shorter);
  };
  return resize(image, side(image.height_px), side(image.width_px), ResampleFilter::kBilinear);
}

}  // namespace winnow::pipeline
