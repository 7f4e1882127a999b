#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace winnow::pipeline {

// Samples of a picture as its file has them, in rows without padding: gray; B, G, R; or B, G, R, A.
// Owned. Samples are uninitialized before they are written.
struct Samples {
  int height_px = 0;
  int width_px = 0;
  int channels = 0;
  int sample_bytes = 1;  // bytes per sample: 1, or 2 in this machine's byte order
  std::unique_ptr<std::uint8_t[]> bytes{};

  Samples() = default;
  Samples(int height, int width, int channel_count, int bytes_each = 1)
      : height_px(height),
        width_px(width),
        channels(channel_count),
        sample_bytes(bytes_each),
        bytes(std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(height) *
                                                             row_bytes())) {}

  std::size_t row_bytes() const noexcept {
    return static_cast<std::size_t>(width_px) * static_cast<std::size_t>(channels) *
           static_cast<std::size_t>(sample_bytes);
  }
  std::uint8_t* row(int y) const noexcept {
    return bytes.get() + static_cast<std::size_t>(y) * row_bytes();
  }
};

}  // namespace winnow::pipeline
