#include "pipeline/decode/shrink.h"

#include <algorithm>
#include <cstdint>

#include "common/resample.h"

namespace winnow::pipeline {

std::optional<Size> shrunk(Size size, int short_side_px) noexcept {
  const int shorter = std::min(size.height_px, size.width_px);
  if (short_side_px < 1 || shorter <= short_side_px) return std::nullopt;
  const auto side = [&](int whole) {
    return static_cast<int>(std::int64_t{short_side_px} * whole / shorter);
  };
  return Size{side(size.height_px), side(size.width_px)};
}

std::optional<Image> shrink(ImageView image, int short_side_px) {
  const auto size = shrunk({image.height_px, image.width_px}, short_side_px);
  if (!size) return std::nullopt;
  return resize(image, size->height_px, size->width_px, ResampleFilter::kBilinear);
}

}  // namespace winnow::pipeline
