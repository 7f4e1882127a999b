#include "pipeline/ingest/prints.h"

#include <gtest/gtest.h>

#include "common/resample.h"
#include "common/rng.h"
#include "dedup/audit/measure.h"
#include "dedup/hash/features.h"

namespace winnow::pipeline::prints_test {

Image noise(int height, int width, int channels) {
  CounterRng rng(static_cast<std::uint64_t>(height), 0, 0, RandomUse::kTest);
  Image image(height, width, channels);
  for (std::uint8_t& p : image.pixels) p = static_cast<std::uint8_t>(rng.next_u32() >> 24);
  return image;
}

TEST(Prints, AreThoseOfTheWholeImage) {
  const std::vector<dedup::HashKind> hashes = dedup::hash_kinds();
  dedup::HashMemory memory;  // as the previous image left it
  struct Size {
    int height;
    int width;
  };
  // One group of rows; several; a single row at the end; rows longer than a group.
  for (const Size size : {Size{1, 1}, Size{2, 5}, Size{32, 32}, Size{375, 500}, Size{257, 1000},
                          Size{9, 20'000}, Size{700, 3}, Size{375, 500}}) {
    for (const int channels : {1, 3}) {
      const Image image = noise(size.height, size.width, channels);
      const Image gray = to_gray(image.view());
      const Image thumbnail = dedup::thumbnail(gray.view());
      const Prints prints =
          prints_of(image, hashes, memory, {thumbnail.width_px, thumbnail.height_px});
      EXPECT_EQ(prints.thumbnail, thumbnail);
      EXPECT_EQ(prints_of(image, hashes, memory).thumbnail, Image());
      EXPECT_EQ(prints.pixel_hash, hash_pixels(image));
      EXPECT_EQ(prints.sums, sum_channels(image.view()));
      EXPECT_EQ(prints.sharpness, dedup::sharpness(gray.view()));
      EXPECT_EQ(prints.quality, dedup::quality(gray.view()));
      EXPECT_EQ(prints.measures, dedup::measure(image.view()));
      std::vector<std::uint64_t> codes;
      for (const dedup::HashKind& hash : hashes) {
        const auto words = dedup::compute_hash(image.view(), hash).words;
        codes.insert(codes.end(), words.begin(), words.end());
      }
      EXPECT_EQ(prints.codes, codes) << size.height << " x " << size.width;
    }
  }
}

}  // namespace winnow::pipeline::prints_test
