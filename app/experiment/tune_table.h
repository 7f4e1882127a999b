#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/halving.h"
#include "app/experiment/tune_arms.h"
#include "common/statistics.h"

// Results of the runs of `winnow tune-lr`, by arm: one optimiser at one batch size. Pure functions.
namespace winnow::app {

// Findings of the trials about one axis (a tuned option), once the best setting is known.
struct AxisFinding {
  TuneAxis axis;
  double best = 0;
  // Whether the best value is the lowest or highest that was tried. Not for a lowest value of 0,
  // because no value is below it.
  bool is_lowest = false;
  bool is_highest = false;
  // How much accuracy depends on this axis. Best accuracy with the axis' best value, less the best
  // with its worst value (in a range: its worst third). Nullopt: only one value, or thirds with
  // fewer than two trials.
  std::optional<double> at_stake = {};

  bool matters_little(double margin) const noexcept { return at_stake && *at_stake <= margin; }
};

// Finds what the trials of an arm (one optimiser at one batch size) show about each axis. `scores`:
// of all its settings, trained equally long; `best`: index of the best setting.
std::vector<AxisFinding> findings_of(const TuneArm& arm, const std::vector<TrialScore>& scores,
                                     std::size_t best);

// A run of `winnow tune-lr` that was trained to its end, or diverged.
struct TunedRun {
  TrialScore score;
  std::uint64_t steps = 0;
  double seconds = 0;    // training time in seconds, at the measured speed
  std::string why = {};  // why it diverged; empty: it did not
};

// The trials of one arm (an optimiser at a batch size), and the runs of its best setting with other
// seeds.
struct ArmRuns {
  Halving halving;
  // Results of the trials at each rung (training length), in the order of halving.trials.
  std::vector<std::vector<std::optional<TunedRun>>> rungs;
  std::vector<std::optional<TunedRun>> finals;  // runs of the best setting, by seed
};

// The results of one arm: one optimiser at one batch size.
struct TuneRow {
  // Index of the best setting; nullopt: not known yet, or all trials diverged.
  std::optional<std::size_t> best = {};
  std::vector<AxisFinding> findings = {};
  std::size_t diverged = 0;  // number of trials that diverged
  // Accuracies of the best setting's runs, by seed; nullopt: the run diverged, or is not done.
  std::vector<std::optional<double>> top1 = {};
  std::size_t finals_diverged = 0;
  // Mean and standard deviation of the accuracies of the best setting's runs; nullopt with no run,
  // or fewer than two.
  std::optional<double> mean = {};
  std::optional<double> deviation = {};
  std::optional<Interval> interval = {};  // 95 % confidence interval of the mean (Student's t)
  std::uint64_t steps = 0;
  double seconds = 0;  // mean training time of the best setting's runs
  // Accuracy difference to the first optimiser at the same batch size, over equal seeds. Its
  // p-value is Holm-corrected for all such pairs; it is missing if a run of either best setting
  // diverged.
  std::optional<PairedDifference> versus_first = {};
  std::optional<double> p = {};
};

struct TuneJudge {
  double margin = 0.005;              // accuracy difference that does not matter, a share
  std::uint64_t held_out_images = 1;  // number of held-out images that accuracy is measured on
};

// Computes the results: one row per arm (one optimiser at one batch size), in order.
std::vector<TuneRow> rows_of(const std::vector<TuneArm>& arms, const std::vector<ArmRuns>& runs,
                             const TuneJudge& judge);

// A setting as options of winnow train: "--lr 0.4 --weight-decay 0.0001".
std::string in_words(const TuneArm& arm, const TuneSetting& setting);
// Advice in sentences: all trials diverged; the best value is at the end of the range, and how to
// widen it; which options mattered little.
std::vector<std::string> advice_of(const TuneArm& arm, const TuneRow& row, const TuneJudge& judge);
// The verdict compared with the first optimiser: "better", "worse", "not shown". Empty if there are
// too few runs.
std::string versus_first_in_words(const TuneRow& row);

}  // namespace winnow::app
