#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

// Successive halving (Jamieson and Talwalkar 2016; Hyperband, Li et al. 2018, with eta = 3). Pure
// functions.
//
// Rule    All trials are trained for a short run. The best third is trained anew for three times as
//         long, and so on up to the full length. A short run is the whole recipe with its
//         learning-rate schedule shortened, because a high rate looks bad until it decays.
// Best    The highest accuracy; on a tie the lower loss, then the first trial.
// Failed  A run that diverged is never continued.
namespace winnow::app {

// One round of successive halving: trials that are trained equally long.
struct Rung {
  std::size_t trials = 0;  // most trials of this rung
  double epochs = 0;
  friend bool operator==(const Rung&, const Rung&) = default;
};

// Rungs from the shortest to the full length. Each has a third of the trials of the one before. The
// shortest lasts at least one epoch, unless it is the only one.
std::vector<Rung> halving_rungs(std::size_t trials, double epochs);

// The result of one trial (a training run with one setting).
struct TrialScore {
  bool failed = false;
  double top1 = 0;
  std::optional<double> loss = {};  // loss on the hold-out; nullopt: the trial failed
};

// Indices of the trials that did not fail, best first.
std::vector<std::size_t> ranked(const std::vector<TrialScore>& scores);

// How far successive halving has come.
struct Halving {
  // trials[rung]: ascending numbers of the trials in that rung. Has only the rungs whose trials are
  // already known.
  std::vector<std::vector<std::size_t>> trials;
  bool ended = false;  // true once `best` is final
  // Number of the best of the trials that were trained longest; nullopt: not known yet, or all
  // trials failed.
  std::optional<std::size_t> best = {};
};
// Computes the state from the scores so far. `score_of` returns nullopt for a trial that is not
// done in that rung.
Halving halving_so_far(
    const std::vector<Rung>& rungs,
    const std::function<std::optional<TrialScore>(std::size_t rung, std::size_t trial)>& score_of);

}  // namespace winnow::app
