#include "dedup/verify/closer_look.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "common/error.h"
#include "common/resample.h"
#include "tests/dedup/scenes.h"

namespace winnow::dedup::closer_look_test {

constexpr int kWidth = 150;
constexpr int kHeight = 109;

Image part(const Image& image, Box box) {
  const ImageView view = part_of(image.view(), box);
  return resize(view, view.height_px, view.width_px, ResampleFilter::kBilinear);
}

// Two pictures of rows 0 and 1, and what a closer look makes of a pair of them.
struct Two {
  Image a;
  Image b;
  Affine map = {.xx = 1, .yy = 1};  // in shares

  VerifiedPair look(float probability) const {
    std::array pairs{VerifiedPair{0, 1, probability, map}};
    const std::size_t compared =
        look_closer(pairs, [&](std::uint32_t row) { return row == 0 ? a : b; });
    EXPECT_EQ(compared, probability >= kLeastDoubtful && probability < kMostDoubtful ? 1 : 0);
    return pairs[0];
  }
};

TEST(CloserLook, IsSureOfOnePicture) {
  const Image whole = scene(1, kWidth, kHeight);
  // The right 5/6 of its width.
  const Two two{whole,
                part(whole, {0, kWidth / 6, kHeight, 5 * kWidth / 6}),
                {.xx = 1.2, .x0 = -0.2, .yy = 1}};
  const VerifiedPair pair = two.look(0.4F);
  EXPECT_GT(pair.probability, 0.99);
  EXPECT_NEAR(pair.map.xx, 1.2, 0.01);
  EXPECT_NEAR(pair.map.x0, -0.2, 0.01);
}

TEST(CloserLook, RefusesAnother) {
  const Two two{scene(1, kWidth, kHeight), scene(2, kWidth, kHeight)};
  EXPECT_LT(two.look(0.9F).probability, 0.1);
}

TEST(CloserLook, LeavesPairsThatAreNotInDoubt) {
  const Two two{scene(1, kWidth, kHeight), scene(2, kWidth, kHeight)};
  EXPECT_EQ(two.look(0.05F).probability, 0.05F);
  EXPECT_EQ(two.look(0.97F).probability, 0.97F);
}

TEST(CloserLook, LeavesPairsWithoutPictures) {
  const Image picture = scene(1, kWidth, kHeight);
  for (const std::uint32_t missing : {0, 1}) {
    std::array pairs{VerifiedPair{0, 1, 0.5F, {.xx = 1, .yy = 1}}};
    const auto source = [&](std::uint32_t row) {
      return row == missing ? std::nullopt : std::optional(picture);
    };
    EXPECT_EQ(look_closer(pairs, source), 0);
    EXPECT_EQ(pairs[0].probability, 0.5F);
  }
}

TEST(CloserLook, Stops) {
  std::array pairs{VerifiedPair{0, 1, 0.5F, {.xx = 1, .yy = 1}}};
  EXPECT_THROW(look_closer(pairs, {}, [] { return true; }), StoppedError);
}

TEST(CloserPicture, IsOfOneSizeAndShowsMoreThanAThumbnail) {
  Image photo(375, 500, 3);
  const auto closer = closer_picture(photo.view());
  ASSERT_TRUE(closer);
  EXPECT_EQ(closer->channels, 1);
  EXPECT_NEAR(closer->width_px * closer->height_px, kCloserPixels, 150);
  EXPECT_NEAR(3 * closer->width_px, 4 * closer->height_px, 4);
  EXPECT_FALSE(closer_picture(Image(32, 32, 3).view()));
  const auto strip = closer_picture(Image(3, 30000, 1).view());
  ASSERT_TRUE(strip);
  EXPECT_GE(strip->height_px, 1);
}

}  // namespace winnow::dedup::closer_look_test
