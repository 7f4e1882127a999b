#include "app/experiment/sweep_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/json_reader.h"

namespace winnow::app {
namespace {

// Accuracies of the seeds that both arms have.
std::pair<std::vector<double>, std::vector<double>> common_seeds(const ArmResult& a,
                                                                 const ArmResult& b) {
  std::pair<std::vector<double>, std::vector<double>> both;
  for (std::size_t seed = 0; seed < std::min(a.top1.size(), b.top1.size()); ++seed) {
    if (!a.top1[seed] || !b.top1[seed]) continue;
    both.first.push_back(*a.top1[seed]);
    both.second.push_back(*b.top1[seed]);
  }
  return both;
}

std::optional<PairedDifference> difference(const ArmResult& a, const ArmResult& b,
                                           const SweepJudge& judge, double confidence) {
  const auto [first, other] = common_seeds(a, b);
  if (first.empty()) return std::nullopt;
  return paired_difference(first, other, confidence,
                           1 / static_cast<double>(judge.held_out_images));
}

void add_classes(const JsonReader& classes, std::vector<ClassHits>& sums) {
  const std::vector<JsonReader> all = classes.items();
  sums.resize(std::max(sums.size(), all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::uint64_t> hits = all[i].numbers(2);
    sums[i].right += hits[0];
    sums[i].images += hits[1];
  }
}

ArmResult runs_of(const SweepArm& arm, const OutcomeOf& outcome_of) {
  ArmResult result;
  double seconds = 0;
  double timed = 0;
  for (const std::string& job : arm.jobs) {
    const std::optional<Outcome> outcome = outcome_of(job);
    result.top1.emplace_back();
    if (!outcome) continue;
    if (outcome->failed) {
      result.failures.push_back(outcome->text);
      continue;
    }
    const JsonReader run(outcome->text, {.name = "the result of a run"});
    result.top1.back() = run.at("top1").real(0, 1);
    if (const auto classes = run.find("classes")) add_classes(*classes, result.classes);
    if (const auto taken = run.find("seconds")) {
      seconds += taken->real_from_0();
      timed += 1;
    }
  }
  if (timed > 0) result.seconds = seconds / timed;
  const auto count = static_cast<double>(result.runs());
  for (const auto& top1 : result.top1) result.mean += top1.value_or(0) / std::max(1.0, count);
  if (count < 2) return result;
  double squares = 0;
  for (const auto& top1 : result.top1) {
    if (top1) squares += (*top1 - result.mean) * (*top1 - result.mean);
  }
  result.deviation = std::sqrt(squares / (count - 1));
  return result;
}

std::optional<double> p_versus_all(const ArmResult& all, const ArmResult& arm,
                                   const SweepJudge& judge) {
  const auto [first, other] = common_seeds(all, arm);
  if (first.size() < 2) return std::nullopt;
  return p_no_loss(first, other, judge.margin, 1 / static_cast<double>(judge.held_out_images));
}

// The first arm that has the same runs.
std::size_t first_of_equal(const std::vector<SweepArm>& arms, std::size_t place) {
  const auto equal = std::ranges::find(arms, arms[place].jobs, &SweepArm::jobs);
  return static_cast<std::size_t>(equal - arms.begin());
}

void judge_family(const std::vector<std::size_t>& family, const SweepJudge& judge,
                  std::vector<ArmResult>& results) {
  std::vector<std::optional<double>> alone;
  std::vector<std::optional<double>> control;
  for (const std::size_t i : family) {
    const ArmResult& arm = results[i];
    control.push_back(arm.versus_control ? arm.versus_control->p : std::nullopt);
    alone.push_back(arm.versus_all ? p_versus_all(results.front(), arm, judge) : std::nullopt);
  }
  const auto verdicts = judge_losses(alone);
  const auto control_of_all = holm_of_known(control);
  for (std::size_t k = 0; k < family.size(); ++k) {
    ArmResult& arm = results[family[k]];
    arm.p_control = control_of_all[k];
    // A recipe of which a run diverged may not be said to lose nothing.
    if (!verdicts[k] || !arm.failures.empty()) continue;
    arm.p_no_loss = verdicts[k]->p_no_loss;
    arm.passes_alone = *alone[k] <= 1 - kConfidence;
    arm.loss = verdicts[k]->loss;
  }
}

}  // namespace

std::size_t ArmResult::runs() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(top1, [](const auto& value) { return value.has_value(); }));
}

std::vector<ArmResult> results_of(const std::vector<SweepArm>& arms, const SweepJudge& judge,
                                  const OutcomeOf& outcome_of) {
  std::vector<ArmResult> results;
  for (const SweepArm& arm : arms) results.push_back(runs_of(arm, outcome_of));
  for (std::size_t i = 1; i < arms.size(); ++i) {
    ArmResult& result = results[i];
    // the same runs as the first arm, under another budget
    if (arms[i].jobs == arms.front().jobs) continue;
    result.versus_all = difference(results.front(), result, judge, kConfidence);
    if (arms[i].control) {
      result.versus_control = difference(results[*arms[i].control], result, judge, kConfidence);
    }
  }
  for (const bool controls : {false, true}) {
    std::vector<std::size_t> family;
    for (std::size_t i = 1; i < arms.size(); ++i) {
      if (arms[i].is_control() == controls && first_of_equal(arms, i) == i) family.push_back(i);
    }
    judge_family(family, judge, results);
  }
  for (std::size_t i = 1; i < arms.size(); ++i) {
    const ArmResult& equal = results[first_of_equal(arms, i)];
    results[i].loss = equal.loss;
    results[i].p_no_loss = equal.p_no_loss;
    results[i].p_control = equal.p_control;
    results[i].passes_alone = equal.passes_alone;
  }
  return results;
}

std::size_t points_of(const std::vector<SweepArm>& arms) {
  std::size_t points = 0;
  for (std::size_t i = 1; i < arms.size(); ++i) {
    points += !arms[i].is_control() && first_of_equal(arms, i) == i ? 1 : 0;
  }
  return points;
}

}  // namespace winnow::app
