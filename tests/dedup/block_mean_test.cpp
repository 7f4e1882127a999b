#include <gtest/gtest.h>

#include "dedup/hash/hashes.h"
#include "tests/common/formula_images.h"
#include "tests/dedup/block_mean_golden.h"

namespace winnow::dedup {
namespace {

TEST(BlockMean, IsOpenCvsBitForBit) {
  for (const test::BlockMeanGolden& golden : test::kBlockMeanGolden) {
    Image image = test::formula_image(golden.picture, golden.width, golden.height);
    if (golden.channels == 1) {
      Image first(golden.height, golden.width, 1);
      for (std::size_t i = 0; i < first.pixels.size(); ++i) first.pixels[i] = image.pixels[3 * i];
      image = std::move(first);
    }
    EXPECT_EQ(to_hex(compute_hash(image.view(), find_hash("block_mean")).words), golden.hex)
        << golden.picture << " " << golden.width << " x " << golden.height << " x "
        << golden.channels;
  }
}

}  // namespace
}  // namespace winnow::dedup
