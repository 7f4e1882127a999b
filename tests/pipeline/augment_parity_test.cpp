// Steps of recipes with the numbers that torch drew, compared with torchvision's results. The
// differences are those that docs/augment.md states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "pipeline/augment/augment.h"
#include "places.h"
#include "tests/common/vectors.h"
#include "tests/pipeline/golden_pictures.h"
#include "tests/pipeline/mixtures.h"
#include "tests/pipeline/parity_table.h"
#include "tests/pipeline/recorded_draws.h"

namespace winnow::pipeline::augment_parity_test {

std::string step_name(std::string_view step) { return std::string(step.substr(0, step.find(':'))); }

// A step of a recipe, a picture, the numbers drawn, and FNV-1a of the resulting pixels.
struct StepGolden {
  std::string step;
  std::string picture;
  int width;
  int height;
  int channels;
  std::uint32_t epoch;
  std::string drawn;
  int out_height;
  int out_width;
  std::uint64_t hash;
};

StepGolden step_golden_of(const JsonReader& row) {
  return {row.at("step").text(),
          row.at("picture").text(),
          row.at("width").number<int>(),
          row.at("height").number<int>(),
          row.at("channels").number<int>(),
          row.at("epoch").number<std::uint32_t>(),
          row.at("drawn").text(),
          row.at("out_height").number<int>(),
          row.at("out_width").number<int>(),
          test::hash_of(row.at("hash"))};
}

// Applies a step as torchvision's transform would. Steps that resize accept a picture of any size.
Image result_of(const StepGolden& golden, Draws& draws) {
  const Recipe recipe = parse_recipe(golden.step);
  Image image = test::golden_picture(golden.picture, golden.width, golden.height, golden.channels);
  if (!brings_to_size(recipe)) {
    do_step(recipe.steps[0], test::span_of(image), golden.epoch, draws);
    return image;
  }
  const Geometry geometry{golden.out_height, golden.out_width, golden.channels};
  Image out(geometry.height_px, geometry.width_px, geometry.channels);
  if (const auto* crop = std::get_if<ResizedCropStep>(&recipe.steps[0])) {
    const Box box = random_resized_crop(golden.height, golden.width, crop->range, draws);
    ImageView part = image.view();
    part.data = part.row(box.top) + std::ptrdiff_t{box.left} * part.channels;
    part.height_px = box.height_px;
    part.width_px = box.width_px;
    augment_crop(part, recipe, geometry, {}, out.pixels);
  } else {
    augment(image.view(), recipe, geometry, {}, out.pixels);
  }
  return out;
}

void add_steps(test::Differences& differences) {
  for (const JsonReader& row : test::vectors("pipeline/augment", "hashed")) {
    const StepGolden golden = step_golden_of(row);
    test::RecordedDraws draws(golden.drawn);
    const Image image = result_of(golden, draws);
    EXPECT_TRUE(draws.all_used());
    ASSERT_EQ(image.height_px, golden.out_height);
    EXPECT_EQ(test::fnv1a(image.pixels), golden.hash)
        << golden.step << " of " << golden.picture << " " << golden.width << "x" << golden.height
        << "x" << golden.channels << " by " << golden.drawn;
    test::Difference& d = differences[step_name(golden.step)];
    ++d.vectors;
    d.values += static_cast<double>(image.pixels.size());
  }
}

// `levels` has four hexadecimal digits per pixel and channel, in 256ths of a level.
void add_levels(const std::vector<std::uint8_t>& pixels, std::string_view levels,
                test::Difference& d) {
  ++d.vectors;
  ASSERT_EQ(levels.size(), pixels.size() * 4);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const int parts = std::stoi(std::string(levels.substr(4 * i, 4)), nullptr, 16);
    d.largest = std::max(d.largest, std::abs(pixels[i] - parts / 256.0));
    d.differing += pixels[i] != (parts + 128) / 256;
  }
  d.values += static_cast<double>(pixels.size());
}

void add_erased(test::Differences& differences) {
  for (const JsonReader& row : test::vectors("pipeline/augment", "levels")) {
    const std::string step = row.at("step").text();
    Image image = test::golden_picture("lcg", row.at("width").number<int>(),
                                       row.at("height").number<int>(), 3);
    test::RecordedDraws draws(row.at("drawn").text());
    do_step(parse_recipe(step).steps[0], test::span_of(image), 0, draws);
    EXPECT_TRUE(draws.all_used());
    add_levels(image.pixels, row.at("levels").text(), differences[step_name(step)]);
  }
}

void add_mixtures(test::Differences& differences) {
  for (const JsonReader& row : test::vectors("pipeline/mix", "mixtures")) {
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < 4; ++i) {
      for (int y = 0; y < 6; ++y) {
        for (int x = 0; x < 7; ++x) pixels.push_back(test::mixed_level(i, y, x));
      }
    }
    const Mix how = test::mix_of(row);
    for (int y = 0; y < 6; ++y) mix_rows({pixels.data(), 6, 7, 1}, 4, nullptr, y, y + 1, how);
    add_levels(pixels, row.at("levels").text(), differences[how.box ? "cutmix" : "mixup"]);
  }
}

TEST(AugmentParity, IsAsTheDocsSay) {
  test::Differences differences;
  add_steps(differences);
  add_erased(differences);
  add_mixtures(differences);
  EXPECT_EQ(differences.size(), std::variant_size_v<Step>) << "a step without vectors";
  test::expect_stated(differences, WINNOW_DOCS "/augment.md", "Steps beside torchvision");
  for (const auto& [name, difference] : differences) EXPECT_LE(difference.largest, 0.5) << name;
}

// The noise is normally distributed around the levels, rounded and clamped.
TEST(AugmentParity, ErasesWithNoiseOfTheDataSet) {
  const Levels levels{{100, 128, 20}, {50, 3, 30}};
  const Step step = parse_recipe("erase:p=1,area=0.9..0.95,ratio=1..1,value=random").steps[0];
  std::vector<std::vector<int>> counts(3, std::vector<int>(256, 0));
  int total = 0;
  for (SampleId id = 0; id < 20; ++id) {
    Image image(64, 64, 3);
    CounterDraws draws(CounterRng(1, 0, id, RandomUse::kTest));
    CounterDraws again = draws;
    do_step(step, test::span_of(image), 0, draws, levels);
    const Box box = *random_erasing(std::get<EraseStep>(step).erasing, 64, 64, again);
    for (int y = 0; y < 64; ++y) {
      for (int x = 0; x < 64; ++x) {
        const bool inside = y >= box.top && y < box.top + box.height_px && x >= box.left &&
                            x < box.left + box.width_px;
        for (std::size_t c = 0; c < 3; ++c) {
          const int level = image.view().row(y)[3 * x + static_cast<int>(c)];
          if (inside) {
            ++counts[c][static_cast<std::size_t>(level)];
          } else {
            ASSERT_EQ(level, 0);
          }
        }
        total += inside;
      }
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    double below = 0;
    double furthest = 0;
    for (int level = 0; level < 255; ++level) {  // 255 holds the clamped rest
      below += counts[c][static_cast<std::size_t>(level)];
      const double z = (level + 0.5 - levels.mean[c]) / levels.deviation[c];
      furthest = std::max(furthest, std::abs(below / total - 0.5 * std::erfc(-z / std::sqrt(2.0))));
    }
    EXPECT_LT(furthest, 2 / std::sqrt(total)) << c;  // Kolmogorov-Smirnov test
  }
}

}  // namespace winnow::pipeline::augment_parity_test
