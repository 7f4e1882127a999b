#include "pipeline/export/thumbnails.h"

#include <gtest/gtest.h>

#include <random>

#include "common/error.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::thumbnails_test {

// Noise, which takes the most bytes.
Image noise(int height_px, int width_px, std::uint32_t seed) {
  Image image(height_px, width_px, 3);
  std::mt19937 random(seed);
  for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(random());
  return image;
}

Size size_of(const Bytes& jpeg) {
  const auto image = decode(jpeg, {});
  EXPECT_TRUE(image);
  return image ? Size{image->height_px, image->width_px} : Size{};
}

TEST(JpegThumbnail, FitsAndKeepsTheShape) {
  EXPECT_EQ(size_of(jpeg_thumbnail(noise(400, 800, 1).view(), {160, 60})), (Size{80, 160}));
  EXPECT_EQ(size_of(jpeg_thumbnail(noise(2000, 3, 1).view(), {160, 60})), (Size{160, 1}));
}

TEST(JpegThumbnail, OfAPictureThatFitsKeepsItsSize) {
  EXPECT_EQ(size_of(jpeg_thumbnail(noise(32, 20, 1).view(), {160, 60})), (Size{32, 20}));
}

TEST(PicturesOfASource, AreReadAtAScaleThatLeavesTwiceTheSide) {
  FakeSource source;
  const Bytes photo = encode_jpeg(noise(1600, 800, 1).view(), 90);
  source.add("photo.jpg", photo);
  source.add("pixels", noise(500, 40, 2));
  source.add("broken.jpg", Bytes(10));
  const PictureOf picture_of = pictures_of(source, {});
  EXPECT_EQ(*picture_of(0, 100), Image(*decode(photo, {}, {}, {}, 8)));
  EXPECT_EQ(*picture_of(0, 101), Image(*decode(photo, {}, {}, {}, 4)));
  EXPECT_EQ(*picture_of(0, 900), Image(*decode(photo, {})));
  EXPECT_EQ(*picture_of(1, 10), noise(500, 40, 2));
  EXPECT_FALSE(picture_of(2, 100));
}

PictureOf noise_pictures() {
  return [](SampleId id, int) -> std::optional<Image> {
    if (id == 13) return std::nullopt;
    return noise(200, 200, static_cast<std::uint32_t>(id));
  };
}

TEST(Thumbnails, AreAsLargeAsAllOfThemMayBe) {
  std::vector<SampleId> ids;
  for (SampleId id = 0; id < 300; ++id) ids.push_back(id);
  std::uint64_t before = 0;
  for (const std::uint64_t most : {1'000'000, 3'000'000, 100'000'000}) {
    const Thumbnails made = make_thumbnails(noise_pictures(), ids, {.most_bytes = most});
    ASSERT_EQ(made.jpegs.size(), ids.size());
    std::uint64_t bytes = 0;
    for (const Bytes& jpeg : made.jpegs) bytes += jpeg.size();
    EXPECT_LE(bytes, most + most / 50);  // the size is estimated from a sample
    EXPECT_GT(bytes, before);
    before = bytes;
    EXPECT_TRUE(made.jpegs[13].empty());
    EXPECT_FALSE(made.jpegs[14].empty());
  }
  EXPECT_EQ(make_thumbnails(noise_pictures(), ids, {.most_bytes = 100'000'000}).size,
            kThumbnailSizes.front());
  EXPECT_EQ(make_thumbnails(noise_pictures(), ids, {.most_bytes = 1}).size, kThumbnailSizes.back());
}

TEST(Thumbnails, AreTheSameForAnyNumberOfThreads) {
  const std::vector<SampleId> ids{1, 2, 13, 3};
  const auto made = [&](int threads) {
    return make_thumbnails(noise_pictures(), ids, {.most_bytes = 1'000'000, .threads = threads});
  };
  EXPECT_EQ(made(1).jpegs, made(4).jpegs);
}

TEST(Thumbnails, OfNothingAreNone) {
  const std::vector<SampleId> ids{1, 2};
  EXPECT_EQ(make_thumbnails({}, ids, {.most_bytes = 1000}).jpegs, std::vector<Bytes>(2));
  EXPECT_TRUE(make_thumbnails(noise_pictures(), {}, {.most_bytes = 1000}).jpegs.empty());
}

TEST(Thumbnails, StopWhenAsked) {
  const std::vector<SampleId> ids{1, 2};
  EXPECT_THROW(
      make_thumbnails(noise_pictures(), ids, {.most_bytes = 1000, .stop = [] { return true; }}),
      StoppedError);
}

}  // namespace winnow::pipeline::thumbnails_test
