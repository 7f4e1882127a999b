#include "pipeline/decode/upon_gray.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "common/error.h"

namespace winnow::pipeline::upon_gray_test {

Image image_of(int channels, const std::vector<std::uint8_t>& values) {
  Image image(1, static_cast<int>(values.size()) / channels, channels);
  image.pixels.assign(values.begin(), values.end());
  return image;
}

std::vector<int> values_of(const Image& image) {
  return {image.pixels.begin(), image.pixels.end()};
}

TEST(UponGray, ShowsWhatIsOpaqueAndHidesTheRest) {
  Image rows = image_of(3, {10, 20, 30, 10, 20, 30, 255, 255, 255});
  compose_on_gray(rows, image_of(1, {255, 0, 128}).view(), false);
  EXPECT_EQ(values_of(rows), (std::vector<int>{10, 20, 30, 128, 128, 128, 192, 192, 192}));
}

TEST(UponGray, PixelsThatAreMultipliedAreNotMultipliedAgain) {
  Image rows = image_of(1, {255, 0, 128});  // white, with alpha 255, 0 and 128
  compose_on_gray(rows, image_of(1, {255, 0, 128}).view(), true);
  EXPECT_EQ(values_of(rows), (std::vector<int>{255, 128, 192}));
}

TEST(UponGray, AlphaHasTheScaleOfThePicture) {
  DecodedImage image(image_of(1, {0, 0}));
  image.alpha = image_of(1, {255, 255, 0, 0, 0});
  EXPECT_THROW(compose_on_gray(image, image.alpha.view(), false), Error);
  image = DecodedImage(image_of(1, {0, 0, 0}));
  image.alpha = image_of(1, {255, 255, 0, 0, 0});
  EXPECT_EQ(values_of(as_seen(image, 2)), (std::vector<int>{0, 128, 128}));
}

TEST(UponGray, OpaquePicturesAreAsTheyAre) {
  EXPECT_EQ(values_of(as_seen(DecodedImage(image_of(1, {1, 2, 3})), 1)),
            (std::vector<int>{1, 2, 3}));
}

}  // namespace winnow::pipeline::upon_gray_test
