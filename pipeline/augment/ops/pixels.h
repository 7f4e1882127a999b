#pragma once

#include <cstddef>
#include <cstdint>

#include "common/image.h"

namespace winnow::pipeline {

// Borrowed mutable 8-bit pixels: HWC, rows without padding, 1 or 3 channels.
struct PixelSpan {
  std::uint8_t* data = nullptr;
  int height_px = 0;
  int width_px = 0;
  int channels = 0;

  std::size_t row_bytes() const noexcept {
    return static_cast<std::size_t>(width_px) * static_cast<std::size_t>(channels);
  }
  std::size_t size() const noexcept { return row_bytes() * static_cast<std::size_t>(height_px); }
  std::uint8_t* row(int y) const noexcept {
    return data + static_cast<std::size_t>(y) * row_bytes();
  }
  ImageView view() const noexcept {
    return {data, height_px, width_px, channels, static_cast<std::ptrdiff_t>(row_bytes())};
  }
};

}  // namespace winnow::pipeline
