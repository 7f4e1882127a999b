#include "pipeline/augment/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/augment/policies.h"
#include "tests/pipeline/sampling_golden.h"

namespace winnow::pipeline {
namespace {

// The numbers that torch drew, in turn.
class Recorded final : public Draws {
 public:
  explicit Recorded(const std::string& drawn) : in_(drawn) {}

  std::uint32_t below(std::uint32_t bound) override {
    const std::string text = next('b');
    const std::size_t slash = text.find('/');
    EXPECT_EQ(text.substr(std::min(slash + 1, text.size())), std::to_string(bound));
    return static_cast<std::uint32_t>(std::stoul("0" + text.substr(0, slash)));
  }
  float uniform() override { return std::stof("0" + next('u')); }
  bool all_used() {
    std::string rest;
    return !(in_ >> rest);
  }

 private:
  std::string next(char kind) {
    std::string text;
    in_ >> text;
    EXPECT_EQ(text.substr(0, 1), std::string(1, kind));
    return text.empty() ? text : text.substr(1);
  }
  std::istringstream in_;
};

std::string text_of(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

std::string text_of(const Box& box) {
  return std::to_string(box.top) + " " + std::to_string(box.left) + " " +
         std::to_string(box.height_px) + " " + std::to_string(box.width_px);
}

std::string text_of(const Changes& changes) {
  std::string text;
  for (const Change& change : changes) {
    if (!text.empty()) text += " ";
    text += std::string(op_name(change.op)) + " " + text_of(change.value + 0.0);
  }
  return text;
}

std::string result_of(const test::SamplingGolden& golden, Draws& draws) {
  const std::string name = golden.name;
  std::istringstream in(golden.arguments);
  double a[4] = {};
  for (double& value : a) in >> value;
  const int height = golden.height;
  const int width = golden.width;
  if (name == "resized crop") {
    return text_of(random_resized_crop(height, width, {{a[0], a[1]}, {a[2], a[3]}}, draws));
  }
  if (name == "crop") return text_of(random_crop(height + 8, width + 8, height, width, draws));
  if (name == "erasing") {
    const auto box = random_erasing({.probability = a[0]}, height, width, draws);
    return box ? text_of(*box) : "none";
  }
  if (name == "translation") {
    const Shift shift = random_translation(a[0], a[1], height, width, draws);
    return std::to_string(shift.right_px) + " " + std::to_string(shift.down_px);
  }
  if (name == "jitter") return text_of(colour_jitter({a[0], a[1], a[2], a[3]}, draws));
  if (name == "rand") {
    return text_of(
        rand_augment({static_cast<int>(a[0]), static_cast<int>(a[1]), static_cast<int>(a[2])},
                     height, width, draws));
  }
  if (name == "trivial") {
    return text_of(trivial_augment_wide(static_cast<int>(a[0]), height, width, draws));
  }
  const std::string policy = golden.arguments;
  return text_of(auto_augment(policy == "imagenet"  ? Policy::kImageNet
                              : policy == "cifar10" ? Policy::kCifar10
                                                    : Policy::kSvhn,
                              height, width, draws));
}

TEST(Sampling, MakesOfTheSameNumbersWhatTorchvisionMakes) {
  std::map<std::string, int> counts;
  for (const test::SamplingGolden& golden : test::kSamplingGolden) {
    SCOPED_TRACE(std::string(golden.name) + " " + golden.arguments + " of " +
                 std::to_string(golden.height) + "x" + std::to_string(golden.width) + " by " +
                 golden.drawn);
    Recorded draws(golden.drawn);
    EXPECT_EQ(result_of(golden, draws), golden.result);
    EXPECT_TRUE(draws.all_used());
    ++counts[golden.name];
  }
  EXPECT_EQ(counts.size(), 8U);
}

TEST(Sampling, HasTorchvisionsMagnitudes) {
  std::map<std::string, Op> ops;
  for (int i = 0; i <= static_cast<int>(Op::kHue); ++i) {
    ops[std::string(op_name(static_cast<Op>(i)))] = static_cast<Op>(i);
  }
  for (const test::MagnitudeGolden& golden : test::kMagnitudeGolden) {
    const Space space = std::string(golden.space) == "wide" ? Space::kWide : Space::kUsual;
    const Magnitudes table =
        magnitudes(ops.at(golden.op), space, golden.bins, golden.height, golden.width);
    std::string text;
    for (const double value : table.values) text += (text.empty() ? "" : " ") + text_of(value);
    EXPECT_EQ(text, golden.values) << golden.space << " " << golden.op << " " << golden.bins;
    EXPECT_EQ(table.has_sign, golden.has_sign) << golden.op;
  }
}

CounterDraws draws_of(SampleId id) { return CounterDraws(CounterRng(1, 0, id, RandomUse::kTest)); }

TEST(Sampling, UniformNumbersAreThoseOfTorchsRand) {
  double sum = 0;
  for (SampleId id = 0; id < 10'000; ++id) {
    CounterDraws draws = draws_of(id);
    const float u = draws.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    ASSERT_EQ(u * 0x1p24F, std::floor(u * 0x1p24F));
    sum += u;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.015);  // five deviations
}

TEST(Sampling, AlternatingFlipTurnsEveryOtherEpoch) {
  int first = 0;
  for (SampleId id = 0; id < 1000; ++id) {
    CounterDraws one = draws_of(id);
    const bool start = alternating_flip(0, one);
    first += start;
    for (std::uint32_t epoch = 1; epoch < 5; ++epoch) {
      CounterDraws again = draws_of(id);
      EXPECT_EQ(alternating_flip(epoch, again), start == (epoch % 2 == 0));
    }
  }
  EXPECT_NEAR(first, 500, 80);
}

TEST(Sampling, CutoutIsAboutAnyPixel) {
  std::set<std::pair<int, int>> seen;
  for (SampleId id = 0; id < 2000; ++id) {
    CounterDraws draws = draws_of(id);
    const Box box = cutout(16, 5, 9, draws);
    EXPECT_EQ(box.height_px, 16);
    EXPECT_EQ(box.width_px, 16);
    seen.insert({box.top + 8, box.left + 8});
  }
  EXPECT_EQ(seen.size(), 45U);
  EXPECT_EQ(seen.begin()->first, 0);
  EXPECT_EQ(seen.rbegin()->first, 4);
}

// Mean 1/2 and variance 1 / (4 (2 alpha + 1)) of Beta(alpha, alpha), and its fourth moment.
TEST(Sampling, MixupSharesAreOfABetaDistribution) {
  for (const double alpha : {0.2, 0.5, 1.0, 2.0, 8.0}) {
    const int count = 40'000;
    double mean = 0;
    double square = 0;
    double fourth = 0;
    for (int id = 0; id < count; ++id) {
      CounterDraws draws = draws_of(static_cast<SampleId>(id));
      const Mix mix = random_mix({.mixup_alpha = alpha}, 8, 8, draws);
      ASSERT_TRUE(mix.own >= 0 && mix.own <= 1 && !mix.box);
      const double off = mix.own - 0.5;
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

TEST(Sampling, MixesOneOfTheTwoKinds) {
  int cuts = 0;
  int none = 0;
  for (SampleId id = 0; id < 4000; ++id) {
    CounterDraws draws = draws_of(id);
    const Mix mix =
        random_mix({.probability = 0.75, .mixup_alpha = 0.2, .cutmix_alpha = 1.0}, 20, 30, draws);
    if (mix.box) {
      ++cuts;
      const Box& b = *mix.box;
      EXPECT_TRUE(b.top >= 0 && b.left >= 0 && b.height_px >= 0 && b.width_px >= 0);
      EXPECT_TRUE(b.top + b.height_px <= 20 && b.left + b.width_px <= 30);
      EXPECT_NEAR(mix.own, 1 - b.height_px * b.width_px / 600.0, 1.0 / 65536);
    } else if (mix.own == 1) {
      ++none;
    }
  }
  EXPECT_NEAR(cuts, 1500, 150);
  EXPECT_GT(none, 850);  // besides shares that were rounded to all
}

// By hand: half a side is 0.5 * sqrt(0.75) of it, cut to whole pixels and to the picture.
TEST(Sampling, CutMixBoxIsCutAtTheBorder) {
  EXPECT_EQ(cutmix_box(20, 30, 0.25, 10, 15), (Box{2, 3, 16, 24}));
  EXPECT_EQ(cutmix_box(20, 30, 0.25, 0, 29), (Box{0, 17, 8, 13}));
  EXPECT_EQ(cutmix_box(20, 30, 1.0, 3, 3), (Box{3, 3, 0, 0}));
}

TEST(Sampling, MixesAndPastesPixels) {
  Image own(2, 3, 3);
  Image other(2, 3, 3);
  for (std::size_t i = 0; i < own.pixels.size(); ++i) {
    own.pixels[i] = static_cast<std::uint8_t>(13 * i);
    other.pixels[i] = static_cast<std::uint8_t>(255 - 7 * i);
  }
  for (const double share : {0.0, 0.25, 0.5, 1.0}) {
    Image out = own;
    mix({out.pixels.data(), 2, 3, 3}, other.view(), {share, std::nullopt});
    for (std::size_t i = 0; i < own.pixels.size(); ++i) {
      EXPECT_EQ(out.pixels[i],
                static_cast<int>(share * own.pixels[i] + (1 - share) * other.pixels[i] + 0.5));
    }
  }
  Image out = own;
  mix({out.pixels.data(), 2, 3, 3}, other.view(), {0.5, Box{1, 1, 1, 2}});
  for (std::size_t i = 0; i < own.pixels.size(); ++i) {
    EXPECT_EQ(out.pixels[i], i >= 12 ? other.pixels[i] : own.pixels[i]);
  }
}

}  // namespace
}  // namespace winnow::pipeline
