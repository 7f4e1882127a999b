#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/halving.h"
#include "app/experiment/tune_arms.h"
#include "common/statistics.h"

// The table of a tuning: results of its runs by arm. Pure functions.
namespace winnow::app {

// Facts about an axis once the best setting is known.
struct AxisFinding {
  TuneAxis axis;
  double best = 0;
  // The best is the lowest or highest value that was tried. False for 0, because nothing is below
  // it.
  bool is_lowest = false;
  bool is_highest = false;
  // Accuracy lost by the worst value (for ranges: the worst third) with everything else tuned, by
  // the best trial that has it. Nullopt: one value, or fewer than two trials per third.
  std::optional<double> at_stake = {};

  bool matters_little(double margin) const noexcept { return at_stake && *at_stake <= margin; }
};

// In  `scores`: of the arm's settings when all were trained equally long; `best`: place of the
//     best.
std::vector<AxisFinding> findings_of(const TuneArm& arm, const std::vector<TrialScore>& scores,
                                     std::size_t best);

// A run of a tuning that was trained to its end, or diverged.
struct TunedRun {
  TrialScore score;
  std::uint64_t steps = 0;
  double seconds = 0;    // training time, at the speed that it had
  std::string why = {};  // reason of divergence; empty: it did not diverge
};

// An arm's trials, and the runs of its best setting with other seeds.
struct ArmRuns {
  Halving halving;
  std::vector<std::vector<std::optional<TunedRun>>> rungs;  // in the order of halving.trials
  std::vector<std::optional<TunedRun>> finals;              // by seed
};

// A row of the table of large batches.
struct TuneRow {
  std::optional<std::size_t> best = {};  // setting; nullopt: not known, or all trials diverged
  std::vector<AxisFinding> findings = {};
  std::size_t diverged = 0;  // number of trials
  // Accuracies of the best setting's final runs, by seed; nullopt: diverged, or not done.
  std::vector<std::optional<double>> top1 = {};
  std::size_t finals_diverged = 0;
  // Over the runs that exist, from two on; `mean` from one on.
  std::optional<double> mean = {};
  std::optional<double> deviation = {};
  std::optional<Interval> interval = {};  // interval of the mean: Student's t, 95 %
  std::uint64_t steps = 0;
  double seconds = 0;  // mean of the final runs
  // This arm less the first optimiser at its batch size, over equal seeds. p is corrected over all
  // such pairs (Holm), and missing if a final run of either diverged.
  std::optional<PairedDifference> versus_first = {};
  std::optional<double> p = {};
};

struct TuneJudge {
  double margin = 0.005;              // accuracy difference that does not matter, a share
  std::uint64_t held_out_images = 1;  // images that accuracies are measured on
};

// One row per arm, in their order.
std::vector<TuneRow> rows_of(const std::vector<TuneArm>& arms, const std::vector<ArmRuns>& runs,
                             const TuneJudge& judge);

// "--lr 0.4 --weight-decay 0.0001".
std::string in_words(const TuneArm& arm, const TuneSetting& setting);
// Sentences: all trials diverged; the best value is at the end of the range, and how to widen it;
// which axes mattered little.
std::vector<std::string> advice_of(const TuneArm& arm, const TuneRow& row, const TuneJudge& judge);
// "better", "worse", "not shown"; empty if nothing can be said.
std::string versus_first_in_words(const TuneRow& row);

}  // namespace winnow::app
