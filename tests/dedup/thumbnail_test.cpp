#include "dedup/hash/thumbnail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/error.h"
#include "common/rng.h"
#include "tests/dedup/tables.h"
#include "tests/dedup/triangle.h"

namespace winnow::dedup::thumbnail_test {

Image gray_noise(int height, int width) {
  CounterRng rng =
      test_rng(static_cast<std::uint64_t>(height) << 32 | static_cast<unsigned>(width));
  Image image(height, width, 1);
  for (std::uint8_t& pixel : image.pixels) pixel = static_cast<std::uint8_t>(rng.next_u32() >> 24);
  return image;
}

TEST(ThumbnailSize, OfWellKnownShapes) {
  const auto is = [](std::uint32_t width, std::uint32_t height, int to_width, int to_height) {
    EXPECT_EQ(thumbnail_size(width, height), (ThumbnailSize{to_width, to_height}));
    EXPECT_EQ(thumbnail_size(height, width), (ThumbnailSize{to_height, to_width}));
  };
  is(640, 480, 64, 48);
  is(4000, 3000, 64, 48);
  is(1000, 1000, 55, 55);
  is(1920, 1080, 73, 41);
  is(32, 32, 32, 32);
  is(64, 48, 64, 48);
  is(1, 1, 1, 1);
  is(3072, 1, 3072, 1);
  is(3073, 1, 3072, 1);
  is(100'000, 10, 307, 10);
  is(100'000, 100, 192, 16);
  is(4'294'967'295, 4'294'967'295, 55, 55);
  is(4'294'967'295, 1, 3072, 1);
  is(0, 7, 0, 0);
  is(0, 0, 0, 0);
}

void check_size(std::uint32_t width, std::uint32_t height) {
  const ThumbnailSize size = thumbnail_size(width, height);
  const ThumbnailSize turned = thumbnail_size(height, width);
  const std::string what = std::to_string(width) + " x " + std::to_string(height) + " to " +
                           std::to_string(size.width_px) + " x " + std::to_string(size.height_px);
  ASSERT_EQ(turned, (ThumbnailSize{size.height_px, size.width_px})) << what;
  ASSERT_LE(size.width_px * size.height_px, kThumbnailPixels) << what;
  ASSERT_LE(static_cast<std::uint32_t>(size.width_px), width) << what;
  ASSERT_LE(static_cast<std::uint32_t>(size.height_px), height) << what;
  ASSERT_GE(static_cast<std::uint32_t>(size.width_px), std::min(width, 16U)) << what;
  ASSERT_GE(static_cast<std::uint32_t>(size.height_px), std::min(height, 16U)) << what;
  const auto [shorter, longer] = std::minmax(size.width_px, size.height_px);
  const double ratio = static_cast<double>(std::max(width, height)) / std::min(width, height);
  if (std::uint64_t{width} * height <= kThumbnailPixels) {
    ASSERT_EQ(size, (ThumbnailSize{static_cast<int>(width), static_cast<int>(height)})) << what;
    return;
  }
  // The pixel nearest to the ratio, or the largest that fits: less than one pixel off.
  const double room = static_cast<double>(kThumbnailPixels) / shorter;
  ASSERT_LT(std::abs(longer - std::min(shorter * ratio, room)), 1.0) << what;
  // And it is large: one more pixel on the shorter side would not fit.
  if (shorter >= 16) {
    ASSERT_GT((shorter + 1) * (shorter + 1) * ratio, kThumbnailPixels) << what;
  }
}

TEST(ThumbnailSize, KeepsItsPromises) {
  for (std::uint32_t width = 1; width <= 300; ++width) {
    for (std::uint32_t height = 1; height <= 300; ++height) check_size(width, height);
  }
  CounterRng rng = test_rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto side = [&] { return 1 + (rng.next_u32() >> 1 >> rng.below(31)); };
    const std::uint32_t width = side();
    check_size(width, side());
  }
}

TEST(Thumbnail, IsTheTriangleFilters) {
  for (const auto& [height, width] : {std::pair{375, 500},
                                      {500, 333},
                                      {97, 130},
                                      {49, 64},
                                      {1, 1},
                                      {40, 70},
                                      {9, 5000},
                                      {2000, 30},
                                      {56, 56},
                                      {1, 4000}}) {
    const Image image = gray_noise(height, width);
    const Image small = thumbnail(image.view());
    const ThumbnailSize size{small.width_px, small.height_px};
    ASSERT_EQ(size, thumbnail_size(static_cast<std::uint32_t>(width),
                                   static_cast<std::uint32_t>(height)));
    ASSERT_EQ(small.channels, 1);
    const std::vector<double> wanted = exact_thumbnail(image, size);
    ASSERT_EQ(small.pixels.size(), wanted.size());
    double worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      worst = std::max(worst, std::abs(small.pixels[i] - wanted[i]));
    }
    // Values are rounded to 8 bits after each direction.
    EXPECT_LE(worst, 1.01) << width << " x " << height;
    if (std::int64_t{height} * width <= kThumbnailPixels) {
      EXPECT_EQ(small, image);
    }
  }
}

TEST(Thumbnail, IsTheSameHoweverRowsCome) {
  ResampleWeights weights;
  for (const auto& [height, width] : {std::pair{375, 500}, {31, 32}, {5000, 3}, {130, 97}}) {
    const Image image = gray_noise(height, width);
    const Image whole = thumbnail(image.view());
    for (const int at_once : {1, 7, 64}) {
      RowResizer rows = thumbnail_rows(height, width, {whole.width_px, whole.height_px}, &weights);
      for (int y = 0; y < height; y += at_once) {
        const int count = std::min(at_once, height - y);
        rows.add(part_of(image.view(), {y, 0, count, width}));
      }
      EXPECT_EQ(rows.finish(), whole) << width << " x " << height << " by " << at_once;
    }
  }
}

TEST(Thumbnail, IsMadeOfWhatWasDecodedSmaller) {
  const Image eighth = gray_noise(13, 13);
  RowResizer rows = thumbnail_rows(13, 13, thumbnail_size(100, 100));
  rows.add(eighth.view());
  const Image small = rows.finish();
  EXPECT_EQ(small.width_px, 55);
  EXPECT_EQ(small.height_px, 55);
}

TEST(ThumbnailBlocks, HoldPixelsAndZeros) {
  EXPECT_EQ(thumbnail_blocks({64, 48}), 48U);
  EXPECT_EQ(thumbnail_blocks({1, 1}), 1U);
  EXPECT_EQ(thumbnail_blocks({13, 5}), 2U);
  EXPECT_EQ(thumbnail_blocks({}), 0U);
  for (const auto& [height, width] : {std::pair{48, 64}, {5, 13}, {1, 1}, {16, 4}}) {
    const Image image = gray_noise(height, width);
    const std::vector<ThumbnailBlock> blocks = to_blocks(image);
    const ImageView view = thumbnail_view(blocks, {width, height});
    EXPECT_EQ(view.height_px, height);
    EXPECT_EQ(view.width_px, width);
    EXPECT_EQ(view.channels, 1);
    EXPECT_TRUE(std::equal(image.pixels.begin(), image.pixels.end(), view.data));
    const std::uint8_t* const end = blocks.front().data() + blocks.size() * sizeof(ThumbnailBlock);
    EXPECT_TRUE(std::all_of(view.data + image.pixels.size(), end, [](auto x) { return x == 0; }));
    EXPECT_THROW(thumbnail_view(blocks, {width + 64, height}), FormatError);
  }
  EXPECT_EQ(thumbnail_view({}, {}).data, nullptr);
}

}  // namespace winnow::dedup::thumbnail_test
