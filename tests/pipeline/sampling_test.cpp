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
#include "tests/common/vectors.h"
#include "tests/pipeline/recorded_draws.h"

namespace winnow::pipeline::sampling_test {

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

std::string result_of(const JsonReader& row, Draws& draws) {
  const std::string name = row.at("name").text();
  const std::string arguments = row.at("arguments").text();
  std::istringstream in(arguments);
  double a[4] = {};
  for (double& value : a) in >> value;
  const int height = row.at("height").number<int>();
  const int width = row.at("width").number<int>();
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
  return text_of(auto_augment(arguments == "imagenet"  ? Policy::kImageNet
                              : arguments == "cifar10" ? Policy::kCifar10
                                                       : Policy::kSvhn,
                              height, width, draws));
}

TEST(Sampling, MakesOfTheSameNumbersWhatTorchvisionMakes) {
  std::map<std::string, int> counts;
  for (const JsonReader& row : test::vectors("pipeline/sampling", "drawn")) {
    SCOPED_TRACE(row.dump());
    test::RecordedDraws draws(row.at("drawn").text());
    EXPECT_EQ(result_of(row, draws), row.at("result").text());
    EXPECT_TRUE(draws.all_used());
    ++counts[row.at("name").text()];
  }
  EXPECT_EQ(counts.size(), 8U);
}

TEST(Sampling, HasTorchvisionsMagnitudes) {
  std::map<std::string, Op> ops;
  for (int i = 0; i <= static_cast<int>(Op::kHue); ++i) {
    ops[std::string(op_name(static_cast<Op>(i)))] = static_cast<Op>(i);
  }
  for (const JsonReader& row : test::vectors("pipeline/sampling", "magnitudes")) {
    SCOPED_TRACE(row.dump());
    const Space space = row.at("space").text() == "wide" ? Space::kWide : Space::kUsual;
    const Magnitudes table =
        magnitudes(ops.at(row.at("op").text()), space, row.at("bins").number<int>(),
                   row.at("height").number<int>(), row.at("width").number<int>());
    std::string text;
    for (const double value : table.values) text += (text.empty() ? "" : " ") + text_of(value);
    EXPECT_EQ(text, row.at("values").text());
    EXPECT_EQ(table.has_sign, row.at("has_sign").boolean());
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
  EXPECT_NEAR(sum / 10'000, 0.5, 0.015);  // five standard deviations
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

}  // namespace winnow::pipeline::sampling_test
