#include "dedup/verify/closer_look.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "common/error.h"
#include "common/resample.h"
#include "common/rng.h"
#include "dedup/verify/colours.h"
#include "tests/dedup/pages.h"
#include "tests/dedup/scenes.h"

namespace winnow::dedup::closer_look_test {

constexpr int kWidth = 150;
constexpr int kHeight = 109;

Image part(const Image& image, Box box) {
  const ImageView view = part_of(image.view(), box);
  return resize(view, view.height_px, view.width_px, ResampleFilter::kBilinear);
}

// Two pictures, rows 0 and 1, and the result of a closer look at pairs of them.
struct Two {
  Image a;
  Image b;
  Affine map = {.xx = 1, .yy = 1};  // in shares of the sides
  // The colours of both pictures.
  std::optional<Image> colours_a = {};
  std::optional<Image> colours_b = {};

  Image thumbnail(std::uint32_t row) const {
    return *closer_picture((row == 0 ? a : b).view(), kComparedPixels);
  }
  LookedCloser look(std::vector<VerifiedPair>& pairs, bool has_larger = true) const {
    const auto larger = [&](std::uint32_t row, int pixels) {
      return closer_picture((row == 0 ? a : b).view(), pixels);
    };
    const auto colours = [&](std::uint32_t row) { return row == 0 ? colours_a : colours_b; };
    return look_closer(
        pairs, [&](std::uint32_t row) { return thumbnail(row); },
        has_larger ? CloserSource{.gray = larger, .colours = colours} : CloserSource{});
  }
  VerifiedPair look(float probability) const {
    std::vector pairs{VerifiedPair{0, 1, probability, map}};
    EXPECT_TRUE(look(pairs).look_alikes.empty());
    return pairs.at(0);
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

TEST(CloserLook, LeavesRichPairsThatAreNotInDoubt) {
  Image picture(kHeight, kWidth, 1);
  CounterRng rng(3, 0, 0, RandomUse::kTest);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      auto& value = picture.pixels[static_cast<std::size_t>(y * kWidth + x)];
      const bool is_new = x % 4 == 0 && y % 4 == 0;
      const std::size_t from = static_cast<std::size_t>((y - y % 4) * kWidth + x - x % 4);
      value = is_new ? static_cast<std::uint8_t>(rng.next_u32()) : picture.pixels[from];
    }
  }
  std::vector pairs{VerifiedPair{0, 1, 0.97F, {.xx = 1, .yy = 1}}};
  const LookedCloser looked = Two{picture, picture}.look(pairs);
  EXPECT_EQ(looked.compared, 0);
  EXPECT_EQ(pairs.at(0).probability, 0.97F);
}

TEST(CloserLook, LeavesPairsInDoubtWithoutLargerPictures) {
  const Two two{scene(1, kWidth, kHeight), scene(1, kWidth, kHeight)};
  std::vector pairs{VerifiedPair{0, 1, 0.5F, {.xx = 1, .yy = 1}}};
  const LookedCloser looked = two.look(pairs, /*has_larger=*/false);
  EXPECT_EQ(looked.compared, 0);
  EXPECT_EQ(pairs.at(0).probability, 0.5F);
}

TEST(CloserLook, LeavesOutTwoPagesOfOneForm) {
  const Two two{page({.entries = 1}), page({.entries = 2})};
  for (const bool has_larger : {false, true}) {
    std::vector pairs{VerifiedPair{0, 1, 0.999F, {.xx = 1, .yy = 1}}};
    const LookedCloser looked = two.look(pairs, has_larger);
    EXPECT_TRUE(pairs.empty());
    ASSERT_EQ(looked.look_alikes.size(), 1);
    EXPECT_EQ(looked.look_alikes[0].probability, 0.999F);  // unchanged
  }
}

TEST(CloserLook, KeepsACopyOfAPage) {
  const Image whole = page({});
  const Image copy = resize(whole.view(), 2 * whole.height_px / 3, 2 * whole.width_px / 3,
                            ResampleFilter::kBilinear);
  std::vector pairs{VerifiedPair{0, 1, 0.999F, {.xx = 1, .yy = 1}}};
  const LookedCloser looked = Two{whole, copy}.look(pairs);
  EXPECT_EQ(looked.compared, 1);
  EXPECT_TRUE(looked.look_alikes.empty());
  ASSERT_EQ(pairs.size(), 1);
  EXPECT_GT(pairs[0].probability, 0.99);
}

// Twelve copies of a page: for each, the larger pictures are read for eight pairs.
TEST(CloserLook, SaysWhatItPassedOver) {
  std::vector<VerifiedPair> pairs;
  for (std::uint32_t a = 0; a < 12; ++a) {
    for (std::uint32_t b = a + 1; b < 12; ++b) {
      pairs.push_back({a, b, 0.5F, {.xx = 1, .yy = 1}});
    }
  }
  const std::size_t all = pairs.size();
  const Image whole = page({});
  const LookedCloser looked = look_closer(
      pairs, [&](std::uint32_t) { return *closer_picture(whole.view(), kComparedPixels); },
      {.gray = [&](std::uint32_t, int pixels) { return closer_picture(whole.view(), pixels); }});
  EXPECT_EQ(looked.compared + looked.skipped.size(), all);
  EXPECT_GT(looked.skipped.size(), 0);
  EXPECT_TRUE(looked.skipped.contains({10, 11})) << "both have eight others";
}

// A page in grey: its colours decide.
TEST(CloserLook, RefusesPlainPicturesOfOtherColours) {
  const auto coloured = [](std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
    Image image(kColourSide, kColourSide, 3);
    for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
      const bool is_ground = i < image.pixels.size() / 2;
      image.pixels[i] = is_ground ? 255 : red;
      image.pixels[i + 1] = is_ground ? 255 : green;
      image.pixels[i + 2] = is_ground ? 255 : blue;
    }
    return image;
  };
  const Image whole = page({});
  const Two same{whole, whole, {.xx = 1, .yy = 1}, coloured(200, 40, 40), coloured(190, 50, 45)};
  const Two other{whole, whole, {.xx = 1, .yy = 1}, coloured(200, 40, 40), coloured(20, 60, 200)};
  const Two gray{whole, whole, {.xx = 1, .yy = 1}, coloured(200, 40, 40), std::nullopt};
  for (const Two* two : {&same, &gray}) {
    std::vector pairs{VerifiedPair{0, 1, 0.9F, two->map}};
    EXPECT_TRUE(two->look(pairs).look_alikes.empty());
    EXPECT_EQ(pairs.size(), 1);
  }
  std::vector pairs{VerifiedPair{0, 1, 0.9F, other.map}};
  EXPECT_EQ(other.look(pairs).look_alikes.size(), 1);
  EXPECT_TRUE(pairs.empty());
}

TEST(CloserLook, Stops) {
  std::vector pairs{VerifiedPair{0, 1, 0.5F, {.xx = 1, .yy = 1}}};
  EXPECT_THROW(look_closer(pairs, {}, {}, [] { return true; }), StoppedError);
}

TEST(CloserPicture, IsOfOneSizeAndShowsMoreThanAThumbnail) {
  Image photo(375, 500, 3);
  const auto closer = closer_picture(photo.view(), kCloserPixels);
  ASSERT_TRUE(closer);
  EXPECT_EQ(closer->channels, 1);
  EXPECT_NEAR(closer->width_px * closer->height_px, kCloserPixels, 150);
  EXPECT_NEAR(3 * closer->width_px, 4 * closer->height_px, 4);
  EXPECT_FALSE(closer_picture(Image(32, 32, 3).view(), kCloserPixels));
  const auto strip = closer_picture(Image(3, 30000, 1).view(), kCloserPixels);
  ASSERT_TRUE(strip);
  EXPECT_GE(strip->height_px, 1);
}

}  // namespace winnow::dedup::closer_look_test
