#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/experiment/tune_space.h"

namespace winnow::app {

// An optimiser and those of its options that can be tuned.
struct TunedOptimizer {
  std::string name;
  std::vector<std::string> flags;  // options of kTuneFlags that the optimiser has

  bool has(std::string_view flag) const { return std::ranges::count(flags, flag) > 0; }
};

struct TuneArmOptions {
  std::vector<TunedOptimizer> optimizers = {};
  std::vector<std::uint64_t> batches;
  std::vector<AxisWords> axes = {};  // axes (options to tune) that the user gave
  std::size_t trials = 0;            // number of random settings; 0: all combinations
  std::uint64_t seed = 1;            // seed of the random settings
  double epochs = 10;
  bool has_recipe = false;  // a recipe sets the options that the user did not give
};

// One optimiser at one batch size, with the settings to try.
struct TuneArm {
  std::string optimizer;
  std::uint64_t batch = 0;
  std::vector<TuneAxis> axes;
  std::vector<TuneSetting> settings;

  std::string name() const;  // "lars, batch 8,192"
};

// Combines all optimisers with all batch sizes, ordered by batch size. All have the same number of
// settings.
//
// Random  For options that the user did not give: rates and decays from tune_ranges(), a warm-up of
//         up to a fifth of the epochs.
// Grid    Seven rates from tune_ranges(); a warm-up of a tenth of the epochs, unless there is a
//         recipe; else the optimiser's default.
// Throws  UsageError: an option that an optimiser lacks, or that is given twice; a range without
//         trials; a warm-up that never ends; optimisers that would get different numbers of trials.
std::vector<TuneArm> arms_of(const TuneArmOptions& options);

}  // namespace winnow::app
