#include "pipeline/decode/shrink.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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

Image cut(ImageView image, const Box& box) {
  const ImageView part = part_of(image, box);
  Image out(part.height_px, part.width_px, part.channels);
  const std::size_t line =
      static_cast<std::size_t>(part.width_px) * static_cast<std::size_t>(part.channels);
  std::uint8_t* to = out.pixels.data();
  for (int y = 0; y < part.height_px; ++y, to += line) std::copy_n(part.row(y), line, to);
  return out;
}

Size scaled_size(Size whole, int scale) noexcept {
  const auto blocks = [scale](int side) { return (side + scale - 1) / scale; };
  return {blocks(whole.height_px), blocks(whole.width_px)};
}

Image box_average(ImageView image, int scale) {
  const Size size = scaled_size({image.height_px, image.width_px}, scale);
  Image out(size.height_px, size.width_px, image.channels);
  std::vector<std::uint32_t> sums;  // sums of a row of blocks
  std::size_t at = 0;
  for (int y = 0; y < image.height_px; y += scale) {
    const int height = std::min(scale, image.height_px - y);
    sums.assign(static_cast<std::size_t>(out.width_px) * static_cast<std::size_t>(out.channels), 0);
    for (int dy = 0; dy < height; ++dy) {
      const std::uint8_t* pixel = image.row(y + dy);
      for (int x = 0; x < image.width_px; ++x) {
        std::uint32_t* sum = sums.data() + std::ptrdiff_t{x / scale} * image.channels;
        for (int c = 0; c < image.channels; ++c) sum[c] += *pixel++;
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const int x = static_cast<int>(i / static_cast<std::size_t>(out.channels)) * scale;
      const auto count = static_cast<std::uint32_t>(height * std::min(scale, image.width_px - x));
      out.pixels[at++] = static_cast<std::uint8_t>((sums[i] + count / 2) / count);
    }
  }
  return out;
}

}  // namespace winnow::pipeline
