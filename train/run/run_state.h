#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/run/census.h"

namespace winnow::train {

// Mean loss of some steps.
struct LossMean {
  double sum = 0;
  std::int64_t count = 0;

  void add(double value) noexcept {
    sum += value;
    ++count;
  }
  double value() const noexcept { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

struct RunLosses {
  LossMean interval;      // since the last line of metrics
  LossMean epoch;         // of the current epoch
  double last_epoch = 0;  // mean over the last whole epoch
};

// Who wrote a checkpoint.
struct RunWriter {
  std::uint64_t seed = 0;
  int ranks = 1;
  std::string plan;  // digest of the plan.json that was in force
};

// What a run knows besides model and optimiser: a checkpoint's state.json. Equal on all ranks. With
// it, the model and the data a resumed run does what it would have done.
struct RunState {
  std::int64_t step = 0;  // steps done
  double epoch = 0;       // the same in epochs
  RunWriter writer;
  bool evaluated = true;  // where the step ends an epoch: its evaluation is done
  RunLosses losses;
  std::map<std::string, std::int32_t> sums;  // GradientSum::state
  std::vector<EpochCensus> census{};         // of all epochs begun
};

std::string to_text(const RunState& state);
RunState parse_state(const std::string& text, const std::string& where);  // FormatError

}  // namespace winnow::train
