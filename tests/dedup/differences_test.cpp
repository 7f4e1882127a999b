#include "dedup/verify/differences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/resample.h"
#include "common/rng.h"
#include "dedup/verify/closer_look.h"
#include "dedup/verify/compared_internal.h"
#include "dedup/verify/shown.h"
#include "tests/dedup/pages.h"
#include "tests/dedup/scenes.h"

namespace winnow::dedup::differences_test {

// The differences of two pictures of this many pixels, registered from `map` in shares of their
// sides.
Differences between(const Image& a, const Image& b, int pixels = kFinePixels,
                    const Affine& map = {}) {
  const auto small_a = closer_picture(a.view(), pixels);
  const auto small_b = closer_picture(b.view(), pixels);
  const Compared of_a(*small_a);
  const Compared of_b(*small_b);
  const auto registration =
      register_pictures(of_a.picture, of_b.picture, in_pixels(map, of_a, of_b), of_a.middle());
  EXPECT_TRUE(registration);
  return registration ? differences_between(of_a.picture, of_b.picture, registration->map)
                      : Differences{};
}

// The judgement from both larger sizes.
bool are_copies(const Image& a, const Image& b) {
  return is_copy_by_both(between(a, b, kCloserPixels), between(a, b, kFinePixels));
}

Image with(const Image& image, const auto& value_of) {
  Image out = image;
  for (std::uint8_t& value : out.pixels) {
    value = static_cast<std::uint8_t>(std::clamp(std::lround(value_of(value)), 0L, 255L));
  }
  return out;
}

Image noisy(const Image& image, double height) {
  CounterRng rng(7, 0, 0, RandomUse::kTest);
  return with(image, [&](double value) { return value + height * (rng.next_u32() * 0x1p-31 - 1); });
}

Image scaled(const Image& image, double share) {
  return resize(image.view(), static_cast<int>(share * image.height_px),
                static_cast<int>(share * image.width_px), ResampleFilter::kBilinear);
}

TEST(Differences, OfAPictureWithItselfAreNone) {
  const Image picture = page({});
  const Differences differences = between(picture, picture);
  EXPECT_GT(differences.blocks, 50);
  EXPECT_LT(differences.outlier, 0.5);
  EXPECT_LT(differences.unexplained, 0.05);
}

TEST(Differences, CopiesOfAPageAreCopies) {
  const Image whole = page({});
  const std::vector<Image> copies{
      noisy(whole, 8), scaled(whole, 0.7),
      with(whole, [](double value) { return 1.25 * value; }),  // the background is clipped
      with(whole, [](double value) { return 255 * std::pow(value / 255, 1.6); }),
      with(whole, [](double value) { return 255 - 0.8 * (255 - value); })};
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Differences differences = between(whole, copies[i]);
    EXPECT_TRUE(is_plain(differences)) << i;
    EXPECT_TRUE(are_copies(whole, copies[i])) << i;
  }
}

// 20 words; one whose strokes happen to coincide with those of the other would be missed.
TEST(Differences, NearlyAnyOtherWordIsSeen) {
  int seen = 0;
  for (std::uint64_t other = 2; other < 22; ++other) {
    const Image a = page({.entries = 1});
    const Image b = page({.entries = other, .like = 1, .own_words = 1});
    for (const Image& second : {b, noisy(b, 6)}) {
      EXPECT_TRUE(is_plain(between(a, second)));
      if (!are_copies(a, second)) ++seen;
    }
  }
  EXPECT_GE(seen, 36);  // out of 40
}

TEST(Differences, OtherEntriesOfOneFormAreSeenByAllSizes) {
  const Image a = page({.entries = 1});
  for (std::uint64_t other = 2; other < 12; ++other) {
    const Image b = page({.entries = other});
    EXPECT_FALSE(are_copies(a, b)) << other;
    EXPECT_FALSE(is_copy_by_close(between(a, b, kCloserPixels))) << other;
    EXPECT_FALSE(is_copy_by_thumbnails(between(a, b, kComparedPixels))) << other;
  }
}

// Details are small compared with everything that agrees, and a scene is no page.
TEST(Differences, ScenesAreRich) {
  const Image whole = scene(1, 300, 218);
  const Differences differences = between(whole, noisy(whole, 4), kCloserPixels);
  EXPECT_TRUE(is_rich(differences)) << differences.plain << " " << differences.unexplained;
  EXPECT_FALSE(is_plain(differences));
}

TEST(Shown, AreCopiesAndNotOtherEntriesOfOneForm) {
  const Image form = page({.entries = 1});
  const Image whole = scene(1, 300, 218);
  const std::vector<Image> images{form,  noisy(scaled(form, 0.7), 6),  page({.entries = 2}),
                                  whole, noisy(scaled(whole, 0.7), 6), scene(2, 300, 218)};
  const std::vector<Edge> pairs{{0, 1, 2}, {0, 2, 0}, {3, 4, 9}, {3, 5, 9}, {1, 2, 0}};
  const auto thumbnail = [&](std::uint32_t row) {
    const Image& image = images[row];
    const double share =
        std::sqrt(static_cast<double>(kComparedPixels) / image.width_px / image.height_px);
    return scaled(image, share);
  };
  EXPECT_EQ(are_shown(pairs, thumbnail), (std::vector{true, false, true, false, false}));
}

TEST(Differences, AreTheSameFromEitherSide) {
  const Image whole = page({});
  const Image part = scaled(whole, 0.5);
  const Differences there = between(whole, part);
  const Differences back = between(part, whole);
  EXPECT_NEAR(there.unexplained, back.unexplained, 0.02);
  EXPECT_NEAR(there.plain, back.plain, 0.02);
}

}  // namespace winnow::dedup::differences_test
