#include "dedup/verify/collages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "common/resample.h"
#include "tests/dedup/scenes.h"

namespace winnow::dedup::collages_test {

constexpr int kSide = 120;

// Pastes `picture` at a place of `ground`.
void paste(const Image& picture, int left, int top, Image& ground) {
  for (int y = 0; y < picture.height_px; ++y) {
    for (int x = 0; x < picture.width_px; ++x) {
      ground.pixels[static_cast<std::size_t>((top + y) * ground.width_px + left + x)] =
          picture.pixels[static_cast<std::size_t>(y * picture.width_px + x)];
    }
  }
}

Image cut(const Image& image, Box box) {
  const ImageView view = part_of(image.view(), box);
  return resize(view, view.height_px, view.width_px, ResampleFilter::kBilinear);
}

// The map of a picture that covers `across` by `down` of another, from (left, top) on; in shares.
Affine into(double left, double top, double across, double down) {
  return {.xx = across, .x0 = left, .yy = down, .y0 = top};
}

std::vector<std::uint32_t> collages_among(const std::vector<Image>& pictures,
                                          const std::vector<VerifiedPair>& pairs) {
  return find_collages(pairs, [&](std::uint32_t row) { return pictures.at(row); });
}

TEST(Collages, AreWhatShowsTwoOthers) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Image a = scene(2 * seed, kSide, kSide);
    const Image b = scene(2 * seed + 1, kSide, kSide);
    Image both(kSide, 2 * kSide, 1);
    paste(a, 0, 0, both);
    paste(b, kSide, 0, both);
    const VerifiedPair of_a{0, 2, 1, into(0, 0, 0.5, 1)};
    const VerifiedPair of_b{1, 2, 1, into(0.5, 0, 0.5, 1)};
    const std::vector<std::uint32_t> collages = collages_among({a, b, both}, {of_a, of_b});
    EXPECT_TRUE(collages.empty() || collages == std::vector<std::uint32_t>{2});
    found += collages.empty() ? 0 : 1;
    EXPECT_TRUE(collages_among({a, b, both}, {of_a}).empty()) << "of one other it may be a frame";
    EXPECT_TRUE(shows_part_of_collage(of_a, std::vector<std::uint32_t>{2}));
    EXPECT_FALSE(shows_part_of_collage(of_a, std::vector<std::uint32_t>{1}));
    EXPECT_FALSE(shows_part_of_collage({2, 3, 1, into(0, 0, 1, 1)}, std::vector<std::uint32_t>{2}))
        << "two copies of one collage are one picture";
  }
  EXPECT_GE(found, 18) << "a seam between like grays is not seen";
}

TEST(Collages, MayHaveMorePicturesAndAGround) {
  const std::vector<Image> pictures{scene(50, kSide, kSide), scene(51, kSide, kSide),
                                    scene(52, kSide, kSide), scene(53, kSide, kSide)};
  Image four(2 * kSide + 30, 2 * kSide + 30, 1);
  for (std::uint8_t& value : four.pixels) value = 250;
  std::vector<VerifiedPair> pairs;
  const double all = 2 * kSide + 30;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const int left = 10 + static_cast<int>(i % 2) * (kSide + 10);
    const int top = 10 + static_cast<int>(i / 2) * (kSide + 10);
    paste(pictures[i], left, top, four);
    pairs.push_back({i, 4, 1, into(left / all, top / all, kSide / all, kSide / all)});
  }
  std::vector<Image> all_pictures = pictures;
  all_pictures.push_back(four);
  EXPECT_EQ(collages_among(all_pictures, pairs), std::vector<std::uint32_t>{4});
}

// Two crops that do not overlap lie in their photo just as two pictures lie in a collage.
TEST(Collages, AreNotPhotosWithTwoOfTheirCrops) {
  for (std::uint64_t seed = 100; seed < 140; ++seed) {
    const Image photo = scene(seed, 2 * kSide, kSide);
    const Image left = cut(photo, {0, 0, kSide, kSide});
    const Image right = cut(photo, {10, kSide + 5, kSide - 20, kSide - 15});
    const VerifiedPair of_left{0, 2, 1, into(0, 0, 0.5, 1)};
    const VerifiedPair of_right{1, 2, 1,
                                into((kSide + 5.0) / (2 * kSide), 10.0 / kSide,
                                     (kSide - 15.0) / (2 * kSide), (kSide - 20.0) / kSide)};
    EXPECT_TRUE(collages_among({left, right, photo}, {of_left, of_right}).empty()) << seed;
  }
}

TEST(Collages, AreNotAPictureBesideItself) {
  const Image a = scene(7, kSide, kSide);
  Image both(kSide, 2 * kSide, 1);
  paste(a, 0, 0, both);
  paste(a, kSide, 0, both);
  EXPECT_TRUE(collages_among({a, a, both}, {{0, 1, 1, into(0, 0, 1, 1)},
                                            {0, 2, 1, into(0, 0, 0.5, 1)},
                                            {1, 2, 1, into(0.5, 0, 0.5, 1)}})
                  .empty());
}

}  // namespace winnow::dedup::collages_test
