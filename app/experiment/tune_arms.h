#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/experiment/tune_space.h"

namespace winnow::app {

// An optimiser, as far as tuning must know it.
struct TunedOptimizer {
  std::string name;
  std::vector<std::string> flags;  // those of kTuneFlags that it has

  bool has(std::string_view flag) const { return std::ranges::count(flags, flag) > 0; }
};

struct TuneArmOptions {
  std::vector<TunedOptimizer> optimizers = {};
  std::vector<std::uint64_t> batches;
  std::vector<AxisWords> axes = {};  // what people say of kTuneFlags
  std::size_t trials = 0;            // drawn; 0: every combination
  std::uint64_t seed = 1;            // of what is drawn
  double epochs = 10;
  bool has_recipe = false;  // one that says what axes are that nobody names
};

// An optimiser at a batch size, with the settings that are tried.
struct TuneArm {
  std::string optimizer;
  std::uint64_t batch = 0;
  std::vector<TuneAxis> axes;
  std::vector<TuneSetting> settings;

  std::string name() const;  // "lars, batch 8,192"
};

// All optimisers at all batch sizes, by batch size. All have as many settings.
//
// Drawn    Axes that nobody names: rates and decays from tune_ranges(), a warm-up of up to a fifth
//          of the epochs.
// A grid   Seven rates of tune_ranges(); a warm-up of a tenth of the epochs, unless there is a
//          recipe; else the optimiser's own.
// Throws   UsageError: an axis that an optimiser has not, or is named twice; ends and no trials; a
//          warm-up without end; optimisers that would get more trials than others.
std::vector<TuneArm> arms_of(const TuneArmOptions& options);

}  // namespace winnow::app
