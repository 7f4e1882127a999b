#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/plan/batch_layout.h"
#include "train/run/record/best.h"
#include "train/run/record/census.h"
#include "train/step/loss_scale.h"

namespace winnow::train {

// Limit for the steps of a run: every smaller number is exact in a double.
inline constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;

// Mean loss over some steps.
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
  LossMean epoch;         // in the current epoch
  double last_epoch = 0;  // mean over the last complete epoch
};

// Figures of a local head since the last line of metrics.
struct HeadInterval {
  LossMean loss;
  double correct = 0;  // among the images of RunState::interval_hits
};

// Counts correct predictions for training images.
struct HitCount {
  double correct = 0;
  double samples = 0;

  double top1() const noexcept { return samples > 0 ? correct / samples : 0; }
};

// The run that wrote a checkpoint.
struct RunWriter {
  std::uint64_t seed = 0;
  int ranks = 1;
  std::string plan;  // digest of the plan.json in use
};

// The state of a run besides model and optimiser: a checkpoint's state.json. Equal on all ranks.
// With it, the model and the data, a resumed run does exactly what it would have done.
struct RunState {
  std::int64_t step = 0;  // number of steps done
  double epoch = 0;       // the same in epochs
  RunWriter writer;
  bool evaluated = true;  // if the step ends an epoch: whether it was evaluated
  RunLosses losses;
  HitCount interval_hits;                    // since the last line of metrics
  std::map<std::string, std::int32_t> sums;  // GradientSum::state
  std::vector<EpochCensus> census{};         // a row for each epoch that has begun
  std::optional<BestEvaluation> best{};      // for runs that keep the best checkpoint
  std::vector<LossScale> loss_scales{};      // adaptive ones: one, or one for each stage
  std::vector<HeadInterval> heads{};         // for nets with local updates
};

// Whether the newest evaluation, at this step, is the best of the run so far.
inline bool is_best(const RunState& state) { return state.best && state.best->step == state.step; }

std::string to_text(const RunState& state);

// Parses the result of to_text(). Type and range of every number are checked. Throws FormatError
// naming `where` and the field.
RunState parse_state(const std::string& text, const std::string& where);

// Throws FormatError naming `where` for a state that no run with these batches can have: more steps
// than the run has, or a wrong number of begun epochs.
void check_state(const RunState& state, const BatchLayout& batches, const std::string& where);

}  // namespace winnow::train
