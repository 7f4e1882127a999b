#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/image.h"

namespace winnow::pipeline {

// Sums of values over all pixels, by channel; a gray image has only the first channel.
struct ChannelSums {
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> sum_of_squares{};

  ChannelSums& operator+=(const ChannelSums& more) noexcept {
    for (std::size_t c = 0; c < 3; ++c) {
      sum[c] += more.sum[c];
      sum_of_squares[c] += more.sum_of_squares[c];
    }
    return *this;
  }
  friend bool operator==(const ChannelSums&, const ChannelSums&) = default;
};

// Computes the exact sums of an image with 1 or 3 channels.
ChannelSums sum_channels(ImageView image);

}  // namespace winnow::pipeline
