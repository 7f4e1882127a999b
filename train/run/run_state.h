#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/run/census.h"

namespace winnow::train {

// Mean of the losses of some steps.
struct LossMean {
  double sum = 0;
  std::int64_t count = 0;

  void add(double value) noexcept {
    sum += value;
    ++count;
  }
  double value() const noexcept { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

// What a run knows besides model and optimiser, equal on all ranks: with it, the model and the
// data, a run that goes on does what it would have done. A checkpoint's state.json.
struct RunState {
  std::int64_t step = 0;  // steps done
  double epoch = 0;       // the same in epochs
  std::uint64_t seed = 0;
  int ranks = 1;
  std::string plan;       // digest of the plan.json that was in force
  bool evaluated = true;  // where the step ends an epoch: its evaluation is done
  LossMean interval;      // since the last line of metrics
  LossMean in_epoch;
  double train_loss = 0;                     // mean over the last whole epoch
  std::map<std::string, std::int32_t> sums;  // GradientSum::state
  std::vector<EpochCensus> census{};         // of all epochs begun
};

std::string to_text(const RunState& state);
RunState parse_state(const std::string& text, const std::string& where);  // FormatError

}  // namespace winnow::train
