#include "tools/experiment/sweep_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/json_reader.h"

namespace winnow::tools {
namespace {

constexpr double kSure = 0.95;

// Accuracies of the seeds that both have.
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

ArmResult runs_of(const SweepArm& arm,
                  const std::function<std::optional<Outcome>(const std::string&)>& outcome_of) {
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

}  // namespace

std::size_t ArmResult::runs() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(top1, [](const auto& value) { return value.has_value(); }));
}

std::vector<ArmResult> results_of(
    const std::vector<SweepArm>& arms, const SweepJudge& judge,
    const std::function<std::optional<Outcome>(const std::string& job)>& outcome_of) {
  std::vector<ArmResult> results;
  for (const SweepArm& arm : arms) results.push_back(runs_of(arm, outcome_of));
  for (std::size_t i = 1; i < arms.size(); ++i) {
    ArmResult& result = results[i];
    if (arms[i].jobs == arms.front().jobs) continue;  // it is the first, with another budget
    result.beside_all = difference(results.front(), result, judge, kSure);
    if (arms[i].control) {
      result.beside_control = difference(results[*arms[i].control], result, judge, kSure);
    }
    // Of two sides, of which a loss is one.
    const auto narrow = difference(results.front(), result, judge, 1 - 2 * (1 - kSure));
    // A recipe of which a run diverged may not be said to lose nothing.
    if (narrow && narrow->interval && result.failures.empty()) {
      result.loss = loss_by(*narrow->interval, judge.margin);
    }
  }
  return results;
}

std::optional<std::size_t> recommend(const std::vector<SweepArm>& arms,
                                     const std::vector<ArmResult>& results) {
  std::optional<std::size_t> best;
  for (std::size_t i = 1; i < arms.size(); ++i) {
    if (arms[i].removed == 0 || arms[i].is_control() || results[i].loss != Loss::kNone ||
        arms[i].facts.classes_gone > 0)
      continue;
    if (!best || arms[i].removed > arms[*best].removed) best = i;
  }
  return best;
}

std::string recommendation(const std::vector<SweepArm>& arms, const std::vector<ArmResult>& results,
                           const SweepJudge& judge) {
  const bool judged =
      std::ranges::any_of(results, [](const ArmResult& result) { return result.loss.has_value(); });
  if (!judged) {
    return "nothing is recommended: of one seed nobody can say whether a difference is more than "
           "chance; give --seeds 3 or more";
  }
  const std::optional<std::size_t> best = recommend(arms, results);
  if (!best) {
    return fmt::format(
        "keep all: of no point a loss of {:.2f} points or more is excluded; more "
        "seeds, or a wider --margin, may tell",
        100 * judge.margin);
  }
  const ArmResult& result = results[*best];
  std::string text = fmt::format(
      "{} at equal {}: it removes {:.1f} % and loses less than {:.2f} points ({:+.2f}, {:+.2f} to "
      "{:+.2f}, {} seeds)",
      arms[*best].name, arms[*best].budget, 100 * arms[*best].removed_share(), 100 * judge.margin,
      100 * result.beside_all->mean, 100 * result.beside_all->interval->least,
      100 * result.beside_all->interval->most, result.beside_all->pairs);
  if (result.beside_control && result.beside_control->interval) {
    const Interval& interval = *result.beside_control->interval;
    text += interval.least > 0 ? "; it is better than removing as many at random"
            : interval.most < 0
                ? "; removing as many at random is better"
                : "; that it is better than removing as many at random is not shown";
  }
  return text;
}

}  // namespace winnow::tools
