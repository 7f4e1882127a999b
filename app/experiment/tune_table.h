#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/halving.h"
#include "app/experiment/tune_arms.h"
#include "common/statistics.h"

// What the runs of a tuning come to. Pure functions.
namespace winnow::app {

// What is said of an axis once the best setting is known.
struct AxisFinding {
  TuneAxis axis;
  double best = 0;
  // Nothing that was tried lies beyond the best. Not of a 0, which nothing lies below.
  bool is_lowest = false;
  bool is_highest = false;
  // What the worst of its values costs (of what is drawn: the worst third) where all else is tuned:
  // by the best trial that has it. Nothing: one value, or fewer than two draws a third.
  std::optional<double> at_stake = {};

  bool matters_little(double margin) const noexcept { return at_stake && *at_stake <= margin; }
};

// In  `scores`: of the arm's settings when all were trained equally long; `best`: its place.
std::vector<AxisFinding> findings_of(const TuneArm& arm, const std::vector<TrialScore>& scores,
                                     std::size_t best);

// A run of a tuning that was trained to its end, or diverged.
struct TunedRun {
  TrialScore score;
  std::uint64_t steps = 0;
  double seconds = 0;    // of training, at the speed that it had
  std::string why = {};  // it diverged
};

// An arm's trials, and the runs of its best setting with other seeds.
struct ArmRuns {
  Halving halving;
  std::vector<std::vector<std::optional<TunedRun>>> rungs;  // as halving.trials
  std::vector<std::optional<TunedRun>> finals;              // by seed
};

// A row of the table of large batches.
struct TuneRow {
  std::optional<std::size_t> best = {};  // setting; nothing: not known, or all trials diverged
  std::vector<AxisFinding> findings = {};
  std::size_t diverged = 0;  // trials
  // Accuracies of the best setting's finals, by seed; nothing: it diverged, or is not done.
  std::vector<std::optional<double>> top1 = {};
  std::size_t finals_diverged = 0;
  // Of those that there are, two or more; `mean` of one.
  std::optional<double> mean = {};
  std::optional<double> deviation = {};
  std::optional<Interval> interval = {};  // of the mean: Student's, 95 %
  std::uint64_t steps = 0;
  double seconds = 0;  // mean of the finals
  // Of equal seeds: this less the first optimiser at its batch size; p by Holm, of all such pairs,
  // and not where a final of one diverged.
  std::optional<PairedDifference> beside_first = {};
  std::optional<double> p = {};
};

struct TuneJudge {
  double margin = 0.005;              // a share that does not matter
  std::uint64_t held_out_images = 1;  // that accuracies are of
};

// A row for each arm, in their order.
std::vector<TuneRow> rows_of(const std::vector<TuneArm>& arms, const std::vector<ArmRuns>& runs,
                             const TuneJudge& judge);

// "--lr 0.4 --weight-decay 0.0001".
std::string in_words(const TuneArm& arm, const TuneSetting& setting);
// Sentences: all diverged; a best value at the end of what was tried, and how to widen it; what
// mattered little.
std::vector<std::string> advice_of(const TuneArm& arm, const TuneRow& row, const TuneJudge& judge);
// "better", "worse", "not shown"; empty where nothing can be said.
std::string beside_in_words(const TuneRow& row);

}  // namespace winnow::app
