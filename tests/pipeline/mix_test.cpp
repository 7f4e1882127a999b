#include "pipeline/augment/mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/augment/augment.h"
#include "tests/common/vectors.h"
#include "tests/pipeline/mixtures.h"

namespace winnow::pipeline::mix_test {

CounterDraws draws_of(SampleId id) { return CounterDraws(CounterRng(1, 0, id, RandomUse::kTest)); }

// The share of Beta(a, a) below x: the regularised incomplete beta function by its continued
// fraction (Abramowitz and Stegun 26.5.8), evaluated backwards in double precision.
double beta_below(double x, double a) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > 0.5) return 1 - beta_below(1 - x, a);
  double fraction = 1;
  for (int k = 400; k >= 1; --k) {
    const int m = k / 2;
    const double d = k % 2 == 0 ? m * (a - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                : -(a + m) * (2 * a + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    fraction = 1 + d / fraction;
  }
  const double log_front =
      a * std::log(x * (1 - x)) + std::lgamma(2 * a) - 2 * std::lgamma(a) - std::log(a);
  return std::exp(log_front) / fraction;
}

TEST(Mixing, KnowsTheBetaDistributionsItIsTestedWith) {
  for (const double x : {0.001, 0.1, 0.4, 0.5, 0.9}) {
    EXPECT_NEAR(beta_below(x, 1), x, 1e-12);
    EXPECT_NEAR(beta_below(x, 2), x * x * (3 - 2 * x), 1e-12);
    EXPECT_NEAR(beta_below(x, 0.5), 2 / std::acos(-1) * std::asin(std::sqrt(x)), 1e-9);
  }
}

// Kolmogorov-Smirnov test: with correct shares, one seed in 2000 would fail.
TEST(Mixing, SharesAreOfABetaDistribution) {
  const int count = 40'000;
  for (const double alpha : {0.05, 0.2, 0.5, 1.0, 2.0, 8.0}) {
    std::vector<double> shares;
    for (int id = 0; id < count; ++id) {
      CounterDraws draws = draws_of(static_cast<SampleId>(id));
      const auto mix = random_mix({.mixup = {.alpha = alpha}}, 8, 8, draws);
      ASSERT_TRUE(mix && mix->own >= 0 && mix->own <= 1 && !mix->box);
      ASSERT_EQ(mix->own * 65536, std::floor(mix->own * 65536));
      shares.push_back(mix->own);
    }
    std::ranges::sort(shares);
    double furthest = 0;
    for (int i = 0; i < count; ++i) {
      const double own = shares[static_cast<std::size_t>(i)];
      if (i + 1 < count && shares[static_cast<std::size_t>(i + 1)] == own) continue;
      // Everything that rounds to `own` lies below this.
      furthest =
          std::max(furthest, std::abs((i + 1.0) / count - beta_below(own + 0.5 / 65536, alpha)));
    }
    EXPECT_LT(furthest, 2.0 / std::sqrt(count)) << alpha;
  }
}

// Beta(alpha, alpha) has mean 1/2, variance 1 / (4 (2 alpha + 1)) and a known fourth moment.
TEST(Mixing, SharesHaveTheMomentsOfABetaDistribution) {
  for (const double alpha : {0.2, 0.5, 1.0, 2.0, 8.0}) {
    const int count = 40'000;
    double mean = 0;
    double square = 0;
    double fourth = 0;
    for (int id = 0; id < count; ++id) {
      CounterDraws draws = draws_of(static_cast<SampleId>(id));
      const double off = random_mix({.mixup = {.alpha = alpha}}, 8, 8, draws)->own - 0.5;
      mean += off;
      square += off * off;
      fourth += off * off * off * off;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    const double kurtosis = 3 - 6 / (2 * alpha + 3);
    EXPECT_NEAR(mean / count, 0, 5 * std::sqrt(variance / count));
    EXPECT_NEAR(square / count, variance, 5 * variance * std::sqrt((kurtosis - 1 + 1e-9) / count));
    EXPECT_NEAR(fourth / count, kurtosis * variance * variance, 0.05 * variance * variance);
  }
}

TEST(Mixing, TakesOneOfTheTwoKinds) {
  const Mixing both{{.probability = 0.5, .alpha = 0.2}, {.probability = 0.75, .alpha = 1}};
  int cuts = 0;
  int none = 0;
  for (SampleId id = 0; id < 4000; ++id) {
    CounterDraws draws = draws_of(id);
    const auto mix = random_mix(both, 20, 30, draws);
    if (!mix) {
      ++none;
    } else if (mix->box) {
      ++cuts;
      const Box& b = *mix->box;
      EXPECT_TRUE(b.top >= 0 && b.left >= 0 && b.height_px >= 0 && b.width_px >= 0);
      EXPECT_TRUE(b.top + b.height_px <= 20 && b.left + b.width_px <= 30);
      EXPECT_EQ(mix->own, 1 - b.height_px * b.width_px / 600.0);
    }
  }
  EXPECT_NEAR(cuts, 1500, 150);
  EXPECT_NEAR(none, 1500, 150);
  CounterDraws draws = draws_of(1);
  EXPECT_EQ(random_mix({}, 8, 8, draws), std::nullopt);
  EXPECT_EQ(random_mix({.mixup = {.probability = 0, .alpha = 1}}, 8, 8, draws), std::nullopt);
}

// With alpha 1 the share is uniform, and so is the centre of the box.
TEST(Mixing, CutmixReachesEveryPixel) {
  std::vector<int> pasted(5 * 9, 0);
  for (SampleId id = 0; id < 3000; ++id) {
    CounterDraws draws = draws_of(id);
    const Box box = *random_mix({.cutmix = {.alpha = 1}}, 5, 9, draws)->box;
    for (int y = box.top; y < box.top + box.height_px; ++y) {
      for (int x = box.left; x < box.left + box.width_px; ++x) {
        ++pasted[static_cast<std::size_t>(y * 9 + x)];
      }
    }
  }
  for (const int count : pasted) EXPECT_GT(count, 150);
}

TEST(Mixing, BoxesAndSharesAreTorchvisions) {
  for (const JsonReader& row : test::vectors("pipeline/mix", "boxes")) {
    const auto whole = [](const JsonReader& of, const char* name) {
      return of.at(name).number<int>();
    };
    const int height = whole(row, "height");
    const int width = whole(row, "width");
    const double own = row.at("own").real();
    const Mix mix = cutmix(own, height, width, whole(row, "centre_y"), whole(row, "centre_x"));
    const JsonReader box = row.at("box");
    EXPECT_EQ(mix.box, (Box{whole(box, "top"), whole(box, "left"), whole(box, "height"),
                            whole(box, "width")}))
        << height << "x" << width << " " << own;
    EXPECT_EQ(mix.own, row.at("kept").real());
  }
}

// Mixed in single precision and rounded to the nearest level: exactly half a level off if it lies
// between two.
TEST(Mixing, PixelsAreTorchvisionsToTheNearestLevel) {
  double largest = 0;
  for (const JsonReader& row : test::vectors("pipeline/mix", "mixtures")) {
    const Mix how = test::mix_of(row);
    const std::string levels = row.at("levels").text();
    for (const bool has_partner : {false, true}) {
      std::vector<std::uint8_t> pixels;
      for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 42; ++k) pixels.push_back(test::mixed_level(i, k / 7, k % 7));
      }
      const std::vector<std::uint8_t> partner(pixels.end() - 42, pixels.end());
      for (int y = 0; y < 6; ++y) {
        mix_rows({pixels.data(), 6, 7, 1}, 4, has_partner ? partner.data() : nullptr, y, y + 1,
                 how);
      }
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        const double want = std::stoi(levels.substr(4 * i, 4), nullptr, 16) / 256.0;
        const double off = std::abs(pixels[i] - want);
        EXPECT_LE(off, how.box ? 0 : 0.5);
        largest = std::max(largest, off);
      }
    }
  }
  RecordProperty("largest difference", std::to_string(largest));
  EXPECT_GT(largest, 0.25);
}

// Three pictures of three channels. Each is mixed with the unmixed picture before it, byte by byte.
TEST(Mixing, EachIsMixedWithTheOneBeforeItAsThatWas) {
  const Box box{1, 1, 2, 2};
  for (const Mix& how : {Mix{0.25, std::nullopt}, Mix{0.5, box}}) {
    for (const std::size_t count : {1U, 3U}) {
      std::vector<std::uint8_t> pixels;
      for (std::size_t i = 0; i < count * 36; ++i) {
        pixels.push_back(static_cast<std::uint8_t>(i * i * 7 + i));
      }
      const std::vector<std::uint8_t> old = pixels;
      for (int y = 2; y >= 0; --y)
        mix_rows({pixels.data(), 3, 4, 3}, count, nullptr, y, y + 1, how);
      std::vector<std::uint8_t> at_once = old;
      mix_rows({at_once.data(), 3, 4, 3}, count, nullptr, 0, 3, how);
      EXPECT_EQ(at_once, pixels);
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        const std::size_t other = (i + (count - 1) * 36) % old.size();
        const std::size_t y = i % 36 / 12;
        const std::size_t x = i % 12 / 3;
        const bool inside = y >= 1 && (x == 1 || x == 2);
        const int want = how.box ? (inside ? old[other] : old[i])
                                 : static_cast<int>(0.25 * old[i] + 0.75 * old[other] + 0.5);
        ASSERT_EQ(pixels[i], want) << i;
      }
    }
  }
}

TEST(Mixing, IsDrawnForTheBatchOfARecipe) {
  const Geometry geometry{224, 224, 3};
  EXPECT_FALSE(mixes(Recipe::kImageNet));
  EXPECT_EQ(mix_of(Recipe::kImageNet, geometry, 1, 1), std::nullopt);
  const Recipe recipe = parse_recipe("crop+flip+mixup:alpha=0.4+cutmix:p=0.5");
  EXPECT_TRUE(mixes(recipe));
  EXPECT_EQ(mixing_of(recipe), (Mixing{{.alpha = 0.4}, {.probability = 0.5, .alpha = 1}}));
  std::vector<std::optional<Mix>> seen;
  for (std::uint64_t i = 0; i < 40; ++i) {
    for (const auto& mix :
         {mix_of(recipe, geometry, 3, i), mix_of(recipe, geometry, 1000 + i, 5)}) {
      const bool whole = !mix || mix->own < 0.01 || mix->own > 0.99;
      EXPECT_TRUE(whole || std::ranges::count(seen, mix) == 0);
      seen.push_back(mix);
    }
    EXPECT_EQ(mix_of(recipe, geometry, 3, i), *(seen.end() - 2));
  }
}

}  // namespace winnow::pipeline::mix_test
