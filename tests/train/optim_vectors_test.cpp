// Optimisers and learning-rate schedules, compared with PyTorch's. tests/train/pytorch/vectors.py
// wrote the files.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "places.h"
#include "train/optim/learning_rate.h"
#include "train/optim/optimizer.h"

namespace winnow::train::optim_vectors_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<fs::path> files_in(const char* folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(WINNOW_OPTIM_VECTORS) / folder)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

OptionValues options_of(const Json& test) {
  OptionValues options;
  for (const auto& [key, value] : test.at("options").items()) {
    options[key] = value.is_array() ? value.get<std::vector<double>>()
                                    : std::vector<double>{value.get<double>()};
  }
  return options;
}

// Both sides round to 24 bits, possibly in another order. `largest` is the largest value of each
// element so far: terms may cancel.
void expect_near(const std::vector<float>& got, const std::vector<double>& want,
                 std::vector<double>& largest) {
  ASSERT_EQ(got.size(), want.size());
  largest.resize(want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    largest[i] = std::max(largest[i], std::abs(want[i]));
    EXPECT_NEAR(got[i], want[i], 1e-6 * largest[i]) << "element " << i;
  }
}

void expect_steps(const Optimizer& optimizer, const Json& test) {
  const UpdateFunction update = optimizer.make(ChosenOptions(optimizer.options, options_of(test)));
  auto value = test.at("start").get<std::vector<float>>();
  std::vector<std::vector<float>> state(optimizer.slots.size(),
                                        std::vector<float>(value.size(), 0.0F));
  const std::vector<std::span<float>> slots(state.begin(), state.end());
  std::vector<std::vector<double>> largest(1 + slots.size());
  for (std::size_t step = 0; step < test.at("rates").size(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    update({value,
            test.at("gradients")[step].get<std::vector<float>>(),
            slots,
            {.lr = test.at("rates")[step],
             .step = static_cast<std::int64_t>(step),
             .decay = test.at("decay")}});
    const Json& after = test.at("after")[step];
    expect_near(value, after.at("value"), largest[0]);
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      expect_near(state[slot], after.at(std::string(optimizer.slots[slot])), largest[1 + slot]);
    }
  }
}

TEST(Optimizers, AreThoseOfPyTorch) {
  const std::vector<fs::path> files = files_in("optimizers");
  ASSERT_FALSE(files.empty());
  for (const fs::path& file : files) {
    const Json tests = Json::parse(std::ifstream(file));
    ASSERT_FALSE(tests.empty());
    for (const Json& test : tests) {
      SCOPED_TRACE(file.string() + ": " + test.at("options").dump());
      expect_steps(find_optimizer(file.stem().string()), test);
    }
  }
}

TEST(LearningRate, SchedulesAreThoseOfPyTorch) {
  const std::vector<fs::path> files = files_in("schedules");
  ASSERT_FALSE(files.empty());
  for (const fs::path& file : files) {
    const Json tests = Json::parse(std::ifstream(file));
    ASSERT_FALSE(tests.empty());
    for (const Json& test : tests) {
      SCOPED_TRACE(file.string() + ": " + test.at("options").dump());
      const LearningRate rate{.base = test.at("base"),
                              .total_steps = test.at("total_steps"),
                              .steps_per_epoch = test.at("steps_per_epoch"),
                              .schedule = find_lr_schedule(file.stem().string()),
                              .options = options_of(test)};
      const auto want = test.at("rates").get<std::vector<double>>();
      ASSERT_EQ(want.size(), static_cast<std::size_t>(rate.total_steps));
      for (std::int64_t step = 0; step < rate.total_steps; ++step) {
        const double theirs = want[static_cast<std::size_t>(step)];
        EXPECT_NEAR(rate_at(rate, step), theirs, 1e-12) << "step " << step;
      }
    }
  }
}

}  // namespace winnow::train::optim_vectors_test
