#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/resample.h"
#include "common/rng.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/policy/policy.h"
#include "dedup/policy/preference.h"
#include "dedup/verify/best_order.h"
#include "dedup/verify/better_picture.h"
#include "tests/dedup/scenes.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::best_test {

constexpr int kWidth = 320;
constexpr int kHeight = 232;

// Like JPEG with one quantisation step for all frequencies, in blocks of 8 x 8 pixels.
Image compressed(const Image& image, double step) {
  Image out = image;
  std::array<std::array<double, 8>, 8> cosines{};
  for (int u = 0; u < 8; ++u)
    for (int x = 0; x < 8; ++x)
      cosines[u][x] =
          std::cos((2 * x + 1) * u * std::numbers::pi / 16) * (u == 0 ? std::sqrt(0.125) : 0.5);
  for (int top = 0; top < image.height_px; top += 8) {
    for (int left = 0; left < image.width_px; left += 8) {
      const auto pixel = [&](int x, int y) -> std::size_t {
        return static_cast<std::size_t>(std::min(top + y, image.height_px - 1) * image.width_px +
                                        std::min(left + x, image.width_px - 1));
      };
      using Block = std::array<std::array<double, 8>, 8>;
      const auto product = [&](const auto& of) {
        Block block{};
        for (int i = 0; i < 8; ++i)
          for (int k = 0; k < 8; ++k)
            for (int j = 0; j < 8; ++j) block[i][k] += of(i, j, k);
        return block;
      };
      const Block rows =
          product([&](int y, int x, int u) { return image.pixels[pixel(x, y)] * cosines[u][x]; });
      Block values = product([&](int v, int y, int u) { return cosines[v][y] * rows[y][u]; });
      for (auto& row : values)
        for (double& value : row) value = step * std::round(value / step);
      const Block back = product([&](int y, int v, int u) { return cosines[v][y] * values[v][u]; });
      const Block gray = product([&](int y, int u, int x) { return back[y][u] * cosines[u][x]; });
      for (int y = 0; y < 8 && top + y < image.height_px; ++y)
        for (int x = 0; x < 8 && left + x < image.width_px; ++x)
          out.pixels[pixel(x, y)] =
              static_cast<std::uint8_t>(std::clamp(std::lround(gray[y][x]), 0L, 255L));
    }
  }
  return out;
}

Image original(std::uint64_t seed, double step = 3) {
  return compressed(scene(seed, kWidth, kHeight), step);
}

Image part(const Image& image, int left, int top, int width, int height) {
  Image out(height, width, 1);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      out.pixels[static_cast<std::size_t>(y * width + x)] =
          image.pixels[static_cast<std::size_t>((top + y) * image.width_px + left + x)];
    }
  }
  return out;
}

Image pasted(Image onto, const Image& image, int left, int top) {
  for (int y = 0; y < image.height_px; ++y) {
    for (int x = 0; x < image.width_px; ++x) {
      onto.pixels[static_cast<std::size_t>((top + y) * onto.width_px + left + x)] =
          image.pixels[static_cast<std::size_t>(y * image.width_px + x)];
    }
  }
  return onto;
}

Image plain(int width, int height, std::uint8_t shade) {
  Image out(height, width, 1);
  std::ranges::fill(out.pixels, shade);
  return out;
}

Image mirrored(Image image) {
  for (int y = 0; y < image.height_px; ++y) {
    const auto row = image.pixels.begin() + std::ptrdiff_t{y} * image.width_px;
    std::reverse(row, row + image.width_px);
  }
  return image;
}

Image scaled(const Image& image, double share) {
  return resize(image.view(), static_cast<int>(share * image.height_px),
                static_cast<int>(share * image.width_px), ResampleFilter::kBilinear);
}

// A white image with black strokes.
Image caption(int width, int height) {
  Image out = plain(width, height, 250);
  for (int y = height / 4; y < height * 3 / 4; ++y) {
    for (int x = 4; x + 4 < width; ++x) {
      if (x % 7 < 3) out.pixels[static_cast<std::size_t>(y * width + x)] = 5;
    }
  }
  return out;
}

// `map` leads from the first picture to the second, in shares of their sides.
std::optional<Better> better(const Image& a, const Image& b, const Affine& map = {}) {
  return better_picture({&a, true}, {&b, true}, map).better;
}

// Expects the first picture to be better for the reason `why`, whichever side is asked.
void expect_first(const Image& a, const Image& b, KeptFor why, const Affine& map = {}) {
  const auto here = better(a, b, map);
  const auto there = better(b, a, inverse(map));
  ASSERT_TRUE(here && there);
  EXPECT_TRUE(here->is_first);
  EXPECT_FALSE(there->is_first);
  EXPECT_EQ(kept_for_words(here->why), kept_for_words(why));
  EXPECT_EQ(kept_for_words(there->why), kept_for_words(why));
}

TEST(BetterPicture, TheWholeIsBetterThanACrop) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image whole = original(seed);
    const Image crop = compressed(part(whole, 40, 24, 240, 176), 5);
    const Affine map{.xx = 320.0 / 240, .x0 = -40.0 / 240, .yy = 232.0 / 176, .y0 = -24.0 / 176};
    expect_first(whole, crop, KeptFor::kShowsMore, map);
  }
}

TEST(BetterPicture, TheCleanOneIsBetterThanAFramedOne) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image clean = original(seed);
    for (const std::uint8_t shade : std::to_array<std::uint8_t>({0, 96, 255})) {
      const Image framed =
          compressed(pasted(plain(kWidth + 28, kHeight + 28, shade), clean, 14, 14), 5);
      const Affine map{.xx = 320.0 / 348, .x0 = 14.0 / 348, .yy = 232.0 / 260, .y0 = 14.0 / 260};
      expect_first(clean, framed, KeptFor::kNothingAdded, map);
    }
  }
}

TEST(BetterPicture, TheOneThatOthersWereMadeOfIsBetter) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image first = original(seed);
    expect_first(first, compressed(first, 8), KeptFor::kLessCompressed);
    expect_first(first, compressed(mirrored(first), 5), KeptFor::kLessCompressed,
                 {.xx = -1, .x0 = 1});
    Image darker = first;
    for (std::uint8_t& pixel : darker.pixels) pixel = static_cast<std::uint8_t>(pixel * 3 / 4);
    expect_first(first, compressed(darker, 5), KeptFor::kLessCompressed);
    const Image captioned = pasted(first, caption(150, 40), 80, 150);
    expect_first(first, compressed(captioned, 5), KeptFor::kLessCompressed);
  }
}

// The better picture is compressed more strongly. Its quantisation steps show in the copy; those of
// the copy do not show in it.
TEST(BetterPicture, ACopyOfFinerStepsIsStillACopy) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image first = original(seed, 12);
    expect_first(first, compressed(first, 5), KeptFor::kLessCompressed);
  }
}

TEST(BetterPicture, EnlargedAndReducedOnesLose) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image first = original(seed);
    expect_first(first, compressed(scaled(first, 2), 3), KeptFor::kNotEnlarged);
    expect_first(first, compressed(scaled(first, 0.5), 3), KeptFor::kDetail);
  }
}

TEST(BetterPicture, ABlurredOneLoses) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image first = original(seed);
    expect_first(first, compressed(scaled(scaled(first, 0.25), 4), 3), KeptFor::kDetail);
  }
}

// Moves each pixel away from the mean of its neighbours, within black and white.
Image sharpened(const Image& image) {
  Image out = image;
  for (int y = 0; y < image.height_px; ++y) {
    for (int x = 0; x < image.width_px; ++x) {
      const auto pixel = [&](int column, int row) -> int {
        return image.pixels[static_cast<std::size_t>(std::clamp(row, 0, image.height_px - 1) *
                                                         image.width_px +
                                                     std::clamp(column, 0, image.width_px - 1))];
      };
      int sum = 0;
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) sum += pixel(x + dx, y + dy);
      const double off = pixel(x, y) - sum / 25.0;
      const double value = std::fabs(off) < 3 ? pixel(x, y) : pixel(x, y) + 0.8 * off;
      out.pixels[static_cast<std::size_t>(y * image.width_px + x)] =
          static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
    }
  }
  return out;
}

TEST(BetterPicture, ASharpenedOneLoses) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image first = original(seed, 1);
    expect_first(first, compressed(sharpened(first), 3), KeptFor::kNothingAdded);
  }
}

// The crop shows the quantisation steps of its original.
TEST(BetterPicture, ACropOfAFramedPictureLoses) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image framed = compressed(
        pasted(plain(kWidth, kHeight, 250), scene(seed, kWidth - 32, kHeight - 24), 16, 12), 7);
    const Image crop = compressed(part(framed, 16, 12, kWidth - 32, kHeight - 24), 4);
    const Affine map{.xx = 320.0 / 288, .x0 = -16.0 / 288, .yy = 232.0 / 208, .y0 = -12.0 / 208};
    expect_first(framed, crop, KeptFor::kShowsMore, map);
  }
}

TEST(BetterPicture, APictureIsNotBetterThanItself) {
  const Image picture = original(1);
  EXPECT_EQ(better(picture, picture), std::nullopt);
}

Fingerprints table_of(std::uint32_t rows) {
  Fingerprints table;
  for (std::uint32_t row = 0; row < rows; ++row) {
    table.ids.push_back(row);
    table.splits.push_back(Split::kTrain);
    table.widths_px.push_back(kWidth);
    table.heights_px.push_back(kHeight);
    table.file_bytes.push_back(1000);
    table.pixel_hashes.push_back(hash_of_number(row));
    table.labels.push_back({});
  }
  return table;
}

std::vector<std::uint32_t> places_of(const PreferredOrder& order, std::uint32_t rows) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t row = 0; row < rows; ++row) places.push_back(order.place(row));
  return places;
}

TEST(PreferredOrder, IsTotalAndTheSameInWhateverOrderItIsTold) {
  CounterRng rng(3, 0, 0, RandomUse::kTest);
  for (int round = 0; round < 50; ++round) {
    const std::uint32_t rows = 2 + rng.next_u32() % 30;
    const Fingerprints table = table_of(rows);
    std::map<std::pair<std::uint32_t, std::uint32_t>, Preference> told;  // contains cycles
    for (std::uint32_t i = 0; i < 3 * rows; ++i) {
      const std::uint32_t a = rng.next_u32() % rows;
      const std::uint32_t b = rng.next_u32() % rows;
      if (a == b) continue;
      const bool is_sure = rng.next_u32() % 2 == 0;
      told[{std::min(a, b), std::max(a, b)}] = {a, b, KeptFor::kDetail, true, is_sure};
    }
    std::vector<Preference> list;
    for (const auto& [pair, one] : told) list.push_back(one);
    const std::vector<std::uint32_t> places = places_of(PreferredOrder(table, list), rows);
    EXPECT_EQ(std::set(places.begin(), places.end()).size(), rows);
    EXPECT_EQ(*std::ranges::max_element(places), rows - 1);
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[rng.next_u32() % i]);
    EXPECT_EQ(places_of(PreferredOrder(table, list), rows), places);
  }
}

TEST(PreferredOrder, WhatIsBetterThanAllOthersComesFirst) {
  CounterRng rng(4, 0, 0, RandomUse::kTest);
  for (int round = 0; round < 50; ++round) {
    const std::uint32_t rows = 3 + rng.next_u32() % 20;
    const std::uint32_t best = rng.next_u32() % rows;
    std::vector<Preference> list;
    for (std::uint32_t a = 0; a < rows; ++a) {
      for (std::uint32_t b = a + 1; b < rows; ++b) {
        const bool is_a = best == a || (best != b && rng.next_u32() % 2 == 0);
        list.push_back({is_a ? a : b, is_a ? b : a, KeptFor::kShowsMore, true, true});
      }
    }
    EXPECT_EQ(PreferredOrder(table_of(rows), list).place(best), 0U);
  }
}

TEST(PreferredOrder, SureOnesComeBeforeGuesses) {
  Fingerprints table = table_of(3);
  const PreferredOrder order(table, {{2, 0, KeptFor::kNothingAdded, true, true},
                                     {0, 2, KeptFor::kPixels},
                                     {0, 1, KeptFor::kFirst},
                                     {1, 2, KeptFor::kPixels}});
  EXPECT_LT(order.place(2), order.place(0));
}

TEST(PreferenceByColumns, ColourThenPixelsThenTheFirst) {
  Fingerprints table = table_of(5);
  table.audit.resize(5);
  for (std::uint32_t row = 0; row < 5; ++row) table.audit[row].colour = 0.2F;
  table.audit[0].colour = 0;
  table.widths_px[0] = 900;
  table.widths_px[2] = 640;
  EXPECT_EQ(order_by_columns(table, std::vector<std::uint32_t>{0, 1, 2, 3, 4}),
            (std::vector<std::uint32_t>{2, 1, 3, 4, 0}));
  EXPECT_EQ(preference_by_columns(table, 0, 1), (Preference{1, 0, KeptFor::kColour}));
  EXPECT_EQ(preference_by_columns(table, 2, 1), (Preference{2, 1, KeptFor::kPixels}));
  EXPECT_EQ(preference_by_columns(table, 3, 1), (Preference{1, 3, KeptFor::kFirst}));
}

// Links all pictures to each other, with identical maps.
std::shared_ptr<const PreferredOrder> order_of(const std::vector<Image>& pictures,
                                               const Fingerprints& table) {
  VerifiedLinks links;
  for (std::uint32_t a = 0; a < pictures.size(); ++a) {
    for (std::uint32_t b = a + 1; b < pictures.size(); ++b) {
      links.verification.pairs.push_back({a, b, 0.99F, {}});
      links.edges.push_back({a, b, 0});
    }
  }
  VerifyOptions how;
  how.closer.gray = [&](std::uint32_t row, int pixels) {
    return closer_picture(pictures[row].view(), pixels);
  };
  return best_order([&](const ColumnNames& names) { return select_columns(table, names); }, {},
                    links, how);
}

// Each picture is compressed once, so no two show which was made from the other.
TEST(BestOrder, OfThreeTheOneThatDiffersLeastFromTheOthersIsClean) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Image raw = scene(seed, kWidth, kHeight);
    for (std::uint32_t clean = 0; clean < 3; ++clean) {
      std::vector<Image> pictures{pasted(raw, caption(150, 40), 80, 180),
                                  pasted(raw, plain(60, 60, 230), 20, 20)};
      pictures.insert(pictures.begin() + clean, raw);
      for (Image& picture : pictures) picture = compressed(picture, 5);
      const auto order = order_of(pictures, table_of(3));
      EXPECT_EQ(order->place(clean), 0U) << seed;
      for (std::uint32_t other = 0; other < 3; ++other) {
        if (other == clean) continue;
        const auto told = order->between(other, clean);
        ASSERT_TRUE(told);
        EXPECT_EQ(told->better, clean);
        EXPECT_EQ(told->why, KeptFor::kNothingAdded);
      }
    }
  }
}

TEST(BestOrder, GrayLosesAgainstColour) {
  const Image picture = original(2);
  Fingerprints table = table_of(2);
  table.audit.resize(2);
  table.audit[1].colour = 0.2F;
  table.file_bytes[0] = 5000;
  const auto told = order_of({picture, compressed(picture, 6)}, table)->between(0, 1);
  ASSERT_TRUE(told);
  EXPECT_EQ(*told, (Preference{1, 0, KeptFor::kColour, true, true}));
}

TEST(KeepBest, WishesComeBeforeIt) {
  Fingerprints table = table_of(3);
  table.widths_px = {100, 300, 200};
  Policy policy{.keep = KeepPolicy::kBest};
  const std::vector<std::uint32_t> rows{0, 1, 2};
  EXPECT_EQ(choose_kept(table, rows, policy), 1U);
  EXPECT_EQ(in_order_of_choice(table, rows, policy), (std::vector<std::uint32_t>{1, 2, 0}));
  EXPECT_EQ(reason_of_choice(table, 1, 0, policy), "more pixels");
  auto said = std::make_shared<Precedence>();
  said->preferred = {true, false, false};
  policy.precedence = said;
  EXPECT_EQ(choose_kept(table, rows, policy), 0U);
  EXPECT_EQ(reason_of_choice(table, 0, 1, policy), "preferred");
  table.splits[2] = Split::kTest;
  EXPECT_EQ(choose_kept(table, rows, policy), 2U);
  EXPECT_EQ(reason_of_choice(table, 2, 0, policy), "split");
  policy.precedence = {};
  table.splits[2] = Split::kTrain;
  policy.preferred = std::make_shared<const PreferredOrder>(
      table, std::vector<Preference>{{0, 1, KeptFor::kNotEnlarged, true, true},
                                     {0, 2, KeptFor::kShowsMore, true, true}});
  EXPECT_EQ(choose_kept(table, rows, policy), 0U);
  EXPECT_EQ(reason_of_choice(table, 0, 1, policy), "not enlarged");
  policy.keep = KeepPolicy::kFirst;
  EXPECT_EQ(reason_of_choice(table, 0, 2, policy), "first");
}

}  // namespace winnow::dedup::best_test
