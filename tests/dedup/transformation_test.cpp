#include "dedup/verify/transformation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace winnow::dedup::transformation_test {

Affine in_pixels(PictureSides sides) { return {.xx = sides.width, .yy = sides.height}; }

// The map, in shares, of a copy whose pixels come from the kept picture by `edit`.
Affine map_of(const Affine& edit, PictureSides copy, PictureSides kept) {
  return inverse(after(inverse(in_pixels(copy)), after(edit, in_pixels(kept))));
}

// A clockwise turn as seen (y points down), about the middle of both pictures.
Affine turn(double degrees, PictureSides copy, PictureSides kept) {
  const double angle = degrees * std::numbers::pi / 180;
  Affine edit{
      .xx = std::cos(angle), .xy = -std::sin(angle), .yx = std::sin(angle), .yy = std::cos(angle)};
  edit.x0 = copy.width / 2 - edit.x_of(kept.width / 2, kept.height / 2);
  edit.y0 = copy.height / 2 - edit.y_of(kept.width / 2, kept.height / 2);
  return edit;
}

Affine mirror(PictureSides sides) { return {.xx = -1, .x0 = sides.width}; }

Transformation edited(const Affine& edit, PictureSides copy, PictureSides kept) {
  return transformation_of(map_of(edit, copy, kept), copy, kept);
}

std::string words(const Affine& edit, PictureSides copy, PictureSides kept) {
  return words_of(edited(edit, copy, kept));
}

constexpr PictureSides kWide{400, 200};
constexpr PictureSides kTall{200, 400};

TEST(Transformation, IsNoneOfAnEqualPictureOrOneOfAnotherSize) {
  EXPECT_EQ(words({}, kWide, kWide), "whole");
  EXPECT_EQ(words({.xx = 0.3, .yy = 0.3}, {120, 60}, kWide), "whole");
  EXPECT_EQ(words({.xx = 0.3, .yy = 0.5}, {120, 100}, kWide), "whole");  // squeezed
  // With the error of a registration: a third of a degree, 1 % of a side.
  Affine nearly = turn(0.3, {396, 200}, kWide);
  EXPECT_EQ(words(nearly, {396, 200}, kWide), "whole");
}

TEST(Transformation, TellsHowFarAPictureIsTurnedWhateverItsSides) {
  for (const PictureSides sides : {kWide, kTall, PictureSides{300, 300}}) {
    for (double degrees = -30; degrees <= 30; degrees += 2.5) {
      const Transformation what = edited(turn(degrees, sides, sides), sides, sides);
      EXPECT_NEAR(what.degrees, degrees, 1e-9) << sides.width;
      EXPECT_FALSE(what.is_mirrored);
    }
  }
  EXPECT_EQ(words(turn(5, kWide, kWide), kWide, kWide), "turned 5°");
  EXPECT_EQ(words(turn(-5, kWide, kWide), kWide, kWide), "turned -5°");
  EXPECT_EQ(words(turn(90, kTall, kWide), kTall, kWide), "turned 90°");
  EXPECT_EQ(words(turn(-90, kTall, kWide), kTall, kWide), "turned -90°");
  EXPECT_EQ(words(turn(180, kWide, kWide), kWide, kWide), "turned 180°");
  EXPECT_EQ(words(turn(-179.8, kWide, kWide), kWide, kWide), "turned 180°");
}

TEST(Transformation, TellsAMirroredPictureAndThenItsTurn) {
  EXPECT_EQ(words(mirror(kWide), kWide, kWide), "mirrored");
  for (const double degrees : {-120.0, -90.0, -7.0, 7.0, 90.0, 180.0}) {
    const Transformation what =
        edited(after(turn(degrees, kTall, kWide), mirror(kWide)), kTall, kWide);
    EXPECT_TRUE(what.is_mirrored);
    EXPECT_NEAR(what.degrees, degrees, 1e-9);
  }
  // Upside down, like a reflection in a lake.
  EXPECT_EQ(words({.yy = -1, .y0 = 200}, kWide, kWide), "mirrored, turned 180°");
}

TEST(Transformation, TellsWhatACropShows) {
  const Transformation what = edited({.x0 = -80, .y0 = -20}, {248, 140}, kWide);
  EXPECT_NEAR(what.shown.width, 0.62, 1e-9);
  EXPECT_NEAR(what.shown.height, 0.7, 1e-9);
  EXPECT_NEAR(what.taken.width, 1, 1e-9);
  EXPECT_NEAR(what.taken.height, 1, 1e-9);
  EXPECT_EQ(words_of(what), "crop to 62 × 70 %");
  EXPECT_EQ(words({.x0 = -80}, {248, 200}, kWide), "crop to 62 × 100 %");
  EXPECT_EQ(words({.y0 = -20}, {400, 140}, kWide), "crop to 100 × 70 %");
}

TEST(Transformation, TellsSidesOfTheKeptPictureThatATurnedCropShows) {
  const Affine edit = turn(90, kWide, {200, 200});
  EXPECT_EQ(words(edit, {400, 200}, {200, 200}), "turned 90°, more around (50 × 100 %)");
  EXPECT_EQ(words(turn(90, {200, 200}, {200, 200}), {200, 200}, kWide),
            "turned 90°, crop to 50 × 100 %");
}

TEST(Transformation, TellsWhatAPictureTakesOfItsFrame) {
  EXPECT_EQ(words({.x0 = 50, .y0 = 25}, {500, 250}, kWide), "more around (80 × 80 %)");
  EXPECT_EQ(words({.y0 = 100}, {400, 400}, kWide), "more around (100 × 50 %)");
}

TEST(Transformation, TellsACropWithinAFrame) {
  EXPECT_EQ(words({.x0 = -100, .y0 = 50}, {300, 300}, kWide),
            "crop to 75 × 100 %, more around (100 × 67 %)");
  // If two pictures overlap in part, each has something that the other lacks.
  const Transformation what = edited({.x0 = 100}, kWide, kWide);
  EXPECT_NEAR(what.shown.width, 0.75, 1e-9);
  EXPECT_NEAR(what.taken.width, 0.75, 1e-9);
}

TEST(Transformation, LosesNoSideToTheCornersThatATurnFills) {
  for (const double degrees : {-10.0, 3.0, 10.0}) {
    const Transformation what = edited(turn(degrees, kWide, kWide), kWide, kWide);
    EXPECT_NEAR(what.shown.width, 1, 1e-9);
    EXPECT_NEAR(what.shown.height, 1, 1e-9);
    EXPECT_NEAR(what.taken.width, 1, 1e-9);
  }
}

TEST(Transformation, TellsNothingInCommonOfPicturesThatDoNotTouch) {
  const Transformation what = edited({.x0 = 500}, kWide, kWide);
  EXPECT_EQ(what.shown.width, 0);
  EXPECT_EQ(what.taken.height, 0);
}

}  // namespace winnow::dedup::transformation_test
