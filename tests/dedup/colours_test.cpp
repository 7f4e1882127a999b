#include "dedup/verify/colours.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

namespace winnow::dedup::colours_test {

using Colour = std::array<double, 3>;

// A flag of three vertical stripes, each pixel changed by `edit`.
Image flag(
    const std::array<Colour, 3>& stripes, const std::function<Colour(Colour, int x, int y)>& edit =
                                              [](Colour c, int, int) { return c; }) {
  Image image(120, 180, 3);
  for (int y = 0; y < image.height_px; ++y) {
    for (int x = 0; x < image.width_px; ++x) {
      const Colour colour = edit(stripes[static_cast<std::size_t>(x / 60)], x, y);
      for (std::size_t c = 0; c < 3; ++c) {
        image.pixels[static_cast<std::size_t>(y * image.width_px + x) * 3 + c] =
            static_cast<std::uint8_t>(std::lround(std::clamp(colour[c], 0.0, 255.0)));
      }
    }
  }
  return *colours_of(image.view());
}

double gray_of(const Colour& c) { return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]; }

constexpr std::array<Colour, 3> kItaly{{{0, 140, 69}, {244, 249, 255}, {205, 33, 42}}};
constexpr std::array<Colour, 3> kFrance{{{0, 85, 164}, {255, 255, 255}, {239, 65, 53}}};
constexpr std::array<Colour, 3> kIreland{{{22, 155, 98}, {255, 255, 255}, {255, 136, 62}}};
constexpr Affine kWhole{.xx = 1, .yy = 1};
constexpr Affine kMirrored{.xx = -1, .x0 = 1, .yy = 1};

TEST(Colours, FlagsDiffer) {
  for (const bool is_shown : {true, false}) {
    EXPECT_TRUE(have_other_colours(flag(kItaly), flag(kFrance), kWhole, is_shown));
    EXPECT_TRUE(have_other_colours(flag(kFrance), flag(kItaly), kWhole, is_shown));
    EXPECT_TRUE(have_other_colours(flag(kItaly), flag(kItaly), kMirrored, is_shown));
  }
  EXPECT_TRUE(have_other_colours(flag(kItaly), flag(kIreland), kWhole, true));
}

TEST(Colours, CopiesDoNotDiffer) {
  const auto paler = [](Colour c, int, int) {
    const double gray = gray_of(c);
    for (double& value : c) value = gray + 0.4 * (value - gray);
    return c;
  };
  const auto warmer = [](Colour c, int, int) { return Colour{c[0] + 15, c[1], c[2] - 15}; };
  const auto brighter = [](Colour c, int, int) {
    for (double& value : c) value *= 1.3;
    return c;
  };
  const auto sepia = [](Colour c, int, int) {
    const double gray = gray_of(c);
    return Colour{gray + 40, gray, gray - 40};
  };
  const auto noisy = [](Colour c, int x, int y) {
    for (double& value : c) value += (x * 7919 + y * 104729) % 41 - 20;
    return c;
  };
  for (const auto& stripes : {kItaly, kFrance, kIreland}) {
    const Image whole = flag(stripes);
    for (const auto& edit : {std::function(paler), std::function(warmer), std::function(brighter),
                             std::function(sepia), std::function(noisy)}) {
      EXPECT_FALSE(have_other_colours(whole, flag(stripes, edit), kWhole, true));
      EXPECT_FALSE(have_other_colours(flag(stripes, edit), whole, kWhole, true));
    }
    const std::array<Colour, 3> turned{stripes[2], stripes[1], stripes[0]};
    EXPECT_FALSE(have_other_colours(whole, flag(turned), kMirrored, true));
  }
}

// A sticker over an eighth of the picture.
TEST(Colours, WhatIsCoveredMayDiffer) {
  const auto covered = [](Colour c, int x, int y) {
    return x < 60 && y < 45 ? Colour{250, 220, 0} : c;
  };
  EXPECT_FALSE(have_other_colours(flag(kItaly), flag(kItaly, covered), kWhole, false));
  EXPECT_TRUE(have_other_colours(flag(kItaly), flag(kItaly, covered), kWhole, true));
}

// The right half of a picture is compared with its right half, not with its left half.
TEST(Colours, AreLaidByTheMap) {
  const Image whole = flag(kItaly);
  Image right(120, 60, 3);  // the right stripe
  for (std::size_t i = 0; i < right.pixels.size(); i += 3) {
    for (std::size_t c = 0; c < 3; ++c) {
      right.pixels[i + c] = static_cast<std::uint8_t>(kItaly[2][c]);
    }
  }
  const Image part = *colours_of(right.view());
  EXPECT_LT(colour_difference(part, whole, {.xx = 1.0 / 3, .x0 = 2.0 / 3, .yy = 1}, 0.9), 12);
  // Nearly all of it lies outside the whole.
  EXPECT_EQ(colour_difference(part, whole, {.xx = 1, .x0 = 0.99, .yy = 1}, 0.9), 0);
}

TEST(Colours, GrayPicturesHaveNone) {
  EXPECT_FALSE(colours_of(Image(40, 40, 1).view()));
  EXPECT_FALSE(colours_of(Image(40, 40, 3).view()));
  Image faint(40, 40, 3);
  for (std::size_t i = 0; i < faint.pixels.size(); ++i) faint.pixels[i] = i % 3 == 0 ? 104 : 100;
  EXPECT_FALSE(colours_of(faint.view()));
  Image one(1, 1, 3);
  one.pixels = {200, 10, 10};
  ASSERT_TRUE(colours_of(one.view()));
  EXPECT_EQ(colours_of(one.view())->width_px, kColourSide);
}

}  // namespace winnow::dedup::colours_test
