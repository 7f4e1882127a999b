#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/experiment/tune_space.h"

namespace winnow::app {

// The facts of an optimiser that tuning needs.
struct TunedOptimizer {
  std::string name;
  std::vector<std::string> flags;  // subset of kTuneFlags that it has

  bool has(std::string_view flag) const { return std::ranges::count(flags, flag) > 0; }
};

struct TuneArmOptions {
  std::vector<TunedOptimizer> optimizers = {};
  std::vector<std::uint64_t> batches;
  std::vector<AxisWords> axes = {};  // axes that the user named, of kTuneFlags
  std::size_t trials = 0;            // random settings; 0: every combination
  std::uint64_t seed = 1;            // for random settings
  double epochs = 10;
  bool has_recipe = false;  // a recipe decides axes that the user did not name
};

// An optimiser at a batch size, with the settings to try.
struct TuneArm {
  std::string optimizer;
  std::uint64_t batch = 0;
  std::vector<TuneAxis> axes;
  std::vector<TuneSetting> settings;

  std::string name() const;  // "lars, batch 8,192"
};

// All optimisers at all batch sizes, ordered by batch size. All have the same number of settings.
//
// Random   Axes that were not named: rates and decays from tune_ranges(), a warm-up of up to a
//          fifth of the epochs.
// Grid     Seven rates of tune_ranges(); a warm-up of a tenth of the epochs, unless there is a
//          recipe; else the optimiser's default.
// Throws   UsageError: an axis that an optimiser lacks, or that is named twice; a range without
//          trials; a warm-up without end; optimisers that would get different numbers of trials.
std::vector<TuneArm> arms_of(const TuneArmOptions& options);

}  // namespace winnow::app
