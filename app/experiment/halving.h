#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

// Successive halving (Jamieson and Talwalkar 2016; Hyperband, Li et al. 2018, with its eta of 3).
// Pure functions.
//
// Rule    All trials are trained for a short run. The best third is trained anew for three times as
//         long, and so on up to the full length. Short runs are shorter versions of the recipe with
//         its whole schedule, because a high rate looks bad until it decays.
// Best    The highest accuracy; on a tie the lower loss, then the first.
// Failed  A run that diverged is never continued.
namespace winnow::app {

// Trials that are trained equally long.
struct Rung {
  std::size_t trials = 0;  // at most
  double epochs = 0;
  friend bool operator==(const Rung&, const Rung&) = default;
};

// Rungs from the shortest to the full length. Each has a third of the trials of the one before. The
// shortest lasts at least one epoch, unless it is the only one.
std::vector<Rung> halving_rungs(std::size_t trials, double epochs);

// The result of a trial.
struct TrialScore {
  bool failed = false;
  double top1 = 0;
  std::optional<double> loss = {};  // nullopt: it failed
};

// Places of the trials that did not fail, best first.
std::vector<std::size_t> ranked(const std::vector<TrialScore>& scores);

// State of a halving.
struct Halving {
  // trials[rung] are the numbers of the trials in a rung, ascending. Only rungs whose trials are
  // known so far.
  std::vector<std::vector<std::size_t>> trials;
  bool ended = false;  // `best` is final
  // Number of the best of the trials that were trained longest; nullopt: not yet known, or all
  // trials failed.
  std::optional<std::size_t> best = {};
};
// `score_of`: score of a trial in a rung; nullopt: not done yet.
Halving halving_so_far(
    const std::vector<Rung>& rungs,
    const std::function<std::optional<TrialScore>(std::size_t rung, std::size_t trial)>& score_of);

}  // namespace winnow::app
