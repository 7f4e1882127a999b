#pragma once

#include <array>
#include <cstdint>

#include "common/image.h"

namespace winnow {

// Over all pixels, by channel; a gray image has only the first.
struct ChannelSums {
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> sum_of_squares{};

  friend bool operator==(const ChannelSums&, const ChannelSums&) = default;
};

// Exact. Of an image of 1 or 3 channels.
ChannelSums sum_channels(ImageView image);

}  // namespace winnow
