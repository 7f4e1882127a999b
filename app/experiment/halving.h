#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

// Successive halving (Jamieson and Talwalkar 2016; Li et al. 2018, Hyperband, with their eta of 3).
// Pure functions.
//
// Rule    All trials are trained for a short run. The best third is trained anew for three times as
//         long, and so on, up to the full length. Short runs are shorter versions of the recipe,
//         with its whole schedule: a rate that is high looks bad until it decays.
// Best    The highest accuracy; of equal ones the lower loss; of these the first.
// Failed  A run that diverged never goes on.
namespace winnow::app {

// Trials that are trained equally long.
struct Rung {
  std::size_t trials = 0;  // at most
  double epochs = 0;
  friend bool operator==(const Rung&, const Rung&) = default;
};

// From the shortest to the full length, each a third of the trials of that before. The shortest is
// of an epoch or more, or the only one.
std::vector<Rung> halving_rungs(std::size_t trials, double epochs);

// What a trial came to.
struct TrialScore {
  bool failed = false;
  double top1 = 0;
  std::optional<double> loss = {};  // nothing: it failed
};

// The places of those that did not fail, the best first.
std::vector<std::size_t> ranked(const std::vector<TrialScore>& scores);

// How far a halving is.
struct Halving {
  std::vector<std::vector<std::size_t>> trials;  // of each rung as far as it is known, ascending
  bool ended = false;                            // the best is known, or that there is none
  std::optional<std::size_t> best = {};          // of those that were trained longest
};
// `score_of`: of a rung's run of a trial; nothing: it is not done.
Halving halving_so_far(
    const std::vector<Rung>& rungs,
    const std::function<std::optional<TrialScore>(std::size_t rung, std::size_t trial)>& score_of);

}  // namespace winnow::app
