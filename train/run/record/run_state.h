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

// Upper limit for the number of steps of a run: all smaller integers are exact in a double.
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
  LossMean interval;      // mean since the last line of metrics
  LossMean epoch;         // mean so far in the current epoch
  double last_epoch = 0;  // mean loss over the last complete epoch
};

// Results of one local head (auxiliary classifier of a stage) since the last line of metrics.
struct HeadInterval {
  LossMean loss;
  double correct = 0;  // correct predictions, among the same images as RunState::interval_hits
};

// Counts correct predictions among training images.
struct HitCount {
  double correct = 0;
  double samples = 0;

  double top1() const noexcept { return samples > 0 ? correct / samples : 0; }
};

// The run and the number of ranks that wrote a checkpoint.
struct RunWriter {
  std::uint64_t seed = 0;
  int ranks = 1;
  std::string plan;  // digest of the plan.json in use
};

// The state of a run besides model and optimiser: state.json of a checkpoint. Equal on all ranks.
// With it, the model and the data, a resumed run continues exactly as if it had never stopped.
struct RunState {
  std::int64_t step = 0;  // number of steps done
  double epoch = 0;       // epochs done, with a fraction
  RunWriter writer;
  // false: the evaluation due at this step is still to be done by the resumed run.
  bool evaluated = true;
  RunLosses losses;
  HitCount interval_hits;  // correct training predictions since the last line of metrics
  // State of the gradient sums, as from GradientSum::state.
  std::map<std::string, std::int32_t> sums;
  std::vector<EpochCensus> census{};  // samples seen: a row for each epoch that has begun
  // Best evaluation so far; only for runs that keep the best checkpoint.
  std::optional<BestEvaluation> best{};
  // Adaptive loss scales of f16: one, or one for each stage of the net.
  std::vector<LossScale> loss_scales{};
  // Results of each local head (auxiliary classifier), if the net has any.
  std::vector<HeadInterval> heads{};
};

// Whether the evaluation at this step is the best of the run so far.
inline bool is_best(const RunState& state) { return state.best && state.best->step == state.step; }

std::string to_text(const RunState& state);

// Parses a text made by to_text(), and checks type and range of every number.
// Throws  FormatError, which names `where` and the field.
RunState parse_state(const std::string& text, const std::string& where);

// Checks that a run with these batches can have this state: not more steps than the run has, and
// the right number of begun epochs.
// Throws  FormatError, which names `where`.
void check_state(const RunState& state, const BatchLayout& batches, const std::string& where);

}  // namespace winnow::train
