#include "pipeline/store/channel_sums.h"

#include <gtest/gtest.h>

#include "common/rng.h"

namespace winnow::pipeline::channel_sums_test {

ChannelSums slow_sums(ImageView image) {
  ChannelSums sums;
  for (int y = 0; y < image.height_px; ++y) {
    for (int x = 0; x < image.width_px * image.channels; ++x) {
      const std::uint64_t value = image.row(y)[x];
      const auto c = static_cast<std::size_t>(x % image.channels);
      sums.sum[c] += value;
      sums.sum_of_squares[c] += value * value;
    }
  }
  return sums;
}

TEST(ChannelSums, EqualThoseOfASimpleLoop) {
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  for (const int channels : {1, 3}) {
    for (const int width : {1, 2, 31, 32, 33, 95, 96, 97, 300}) {
      for (const int height : {1, 2, 7}) {
        Image image(height, width, channels);
        for (std::uint8_t& p : image.pixels) p = static_cast<std::uint8_t>(rng.next_u32() >> 24);
        EXPECT_EQ(sum_channels(image.view()), slow_sums(image.view())) << width << "x" << height;
        if (width < 3) continue;
        ImageView part = image.view();  // its rows are not contiguous
        part.width_px -= 2;
        EXPECT_EQ(sum_channels(part), slow_sums(part)) << width << "x" << height;
      }
    }
  }
}

TEST(ChannelSums, AWhiteImageDoesNotOverflow) {
  for (const int channels : {1, 3}) {
    Image image(4000, 3000, channels);
    for (std::uint8_t& p : image.pixels) p = 255;
    const ChannelSums sums = sum_channels(image.view());
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      EXPECT_EQ(sums.sum[c], 255ULL * 4000 * 3000);
      EXPECT_EQ(sums.sum_of_squares[c], 255ULL * 255 * 4000 * 3000);
    }
  }
}

}  // namespace winnow::pipeline::channel_sums_test
