#include <gtest/gtest.h>

#include <string>

#include "dedup/hash/hashes.h"
#include "tests/common/formula_images.h"
#include "tests/common/vectors.h"

namespace winnow::dedup::block_mean_test {

TEST(BlockMean, IsOpenCvsBitForBit) {
  for (const JsonReader& row : test::vectors("dedup/block_mean", "hashes")) {
    const std::string picture = row.at("picture").text();
    const int width = row.at("width").number<int>();
    const int height = row.at("height").number<int>();
    const int channels = row.at("channels").number<int>();
    Image image = test::formula_image(picture, width, height);
    if (channels == 1) {
      Image first(height, width, 1);
      for (std::size_t i = 0; i < first.pixels.size(); ++i) first.pixels[i] = image.pixels[3 * i];
      image = std::move(first);
    }
    EXPECT_EQ(to_hex(compute_hash(image.view(), find_hash("block_mean")).words),
              row.at("hash").text())
        << picture << " " << width << " x " << height << " x " << channels;
  }
}

}  // namespace winnow::dedup::block_mean_test
