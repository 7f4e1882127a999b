#include "app/experiment/halving.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace winnow::app {
namespace {

constexpr std::size_t kThird = 3;

// The scores of all trials of a rung; nullopt if one is not done.
std::optional<std::vector<TrialScore>> scores_of(
    const std::vector<std::size_t>& trials, std::size_t rung,
    const std::function<std::optional<TrialScore>(std::size_t rung, std::size_t trial)>& score_of) {
  std::vector<TrialScore> scores;
  for (const std::size_t trial : trials) {
    const std::optional<TrialScore> score = score_of(rung, trial);
    if (!score) return std::nullopt;
    scores.push_back(*score);
  }
  return scores;
}

}  // namespace

std::vector<Rung> halving_rungs(std::size_t trials, double epochs) {
  std::vector<Rung> rungs;
  double shortest = epochs;
  std::size_t last = trials;
  while (last / kThird >= 1 && shortest / kThird >= 1) {
    last /= kThird;
    shortest /= kThird;
  }
  for (std::size_t left = trials; left > last; left /= kThird) {
    rungs.push_back({left, shortest});
    shortest *= kThird;
  }
  rungs.push_back({last, epochs});
  return rungs;
}

std::vector<std::size_t> ranked(const std::vector<TrialScore>& scores) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i].failed) places.push_back(i);
  }
  std::ranges::stable_sort(places, {}, [&](std::size_t i) {
    return std::tuple(-scores[i].top1,
                      scores[i].loss.value_or(std::numeric_limits<double>::infinity()));
  });
  return places;
}

Halving halving_so_far(
    const std::vector<Rung>& rungs,
    const std::function<std::optional<TrialScore>(std::size_t rung, std::size_t trial)>& score_of) {
  Halving so_far;
  std::vector<std::size_t> trials(rungs.front().trials);
  std::iota(trials.begin(), trials.end(), std::size_t{0});
  std::set<std::size_t> failed;
  // trials of all rungs: those trained longer first, then the better ones
  std::vector<std::size_t> order;
  for (std::size_t rung = 0; rung < rungs.size() && !trials.empty(); ++rung) {
    so_far.trials.push_back(trials);
    const auto scores = scores_of(trials, rung, score_of);
    if (!scores) return so_far;
    std::vector<std::size_t> best_first;
    for (const std::size_t place : ranked(*scores)) best_first.push_back(trials[place]);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if ((*scores)[i].failed) failed.insert(trials[i]);
    }
    order.insert(order.begin(), best_first.begin(), best_first.end());
    if (rung + 1 < rungs.size()) {
      best_first.resize(std::min(best_first.size(), rungs[rung + 1].trials));
      std::ranges::sort(best_first);
    }
    trials = std::move(best_first);
  }
  so_far.ended = true;
  const auto best =
      std::ranges::find_if(order, [&](std::size_t trial) { return !failed.contains(trial); });
  if (best != order.end()) so_far.best = *best;
  return so_far;
}

}  // namespace winnow::app
