#include "app/experiment/last_look.h"

#include <fmt/core.h>

#include "app/words.h"
#include "common/json_reader.h"

namespace winnow::app {
namespace {

std::optional<double> share_at(const JsonReader& result, const char* name) {
  const JsonReader value = result.at(name);
  if (value.is_null()) return std::nullopt;
  return value.real(0, 1);
}

bool is_leak_free(const TestedArm& arm) { return mean_of(arm.top1_leak_free).has_value(); }

const std::vector<std::optional<double>>& judged_by(const TestedArm& arm) {
  return is_leak_free(arm) ? arm.top1_leak_free : arm.top1;
}

std::optional<PairedDifference> difference(const TestedArm& all, const TestedArm& arm,
                                           std::uint64_t images) {
  std::vector<double> first;
  std::vector<double> other;
  for (std::size_t seed = 0; seed < judged_by(arm).size(); ++seed) {
    const auto& a = judged_by(all)[seed];
    const auto& b = judged_by(arm)[seed];
    if (!a || !b) continue;
    first.push_back(*a);
    other.push_back(*b);
  }
  if (first.empty()) return std::nullopt;
  return paired_difference(first, other, 0.95, 1 / static_cast<double>(images));
}

}  // namespace

std::vector<std::size_t> arms_to_test(const std::vector<SweepArm>& arms, std::size_t recommended) {
  std::vector<std::size_t> places{0};
  if (recommended != 0) places.push_back(recommended);
  if (const auto& control = arms[recommended].control) places.push_back(*control);
  return places;
}

TestedRuns tested_runs(const std::vector<std::string>& runs, const OutcomeOf& outcome_of) {
  TestedRuns tested;
  for (const std::string& run : runs) {
    tested.top1.emplace_back();
    tested.top1_leak_free.emplace_back();
    const std::optional<Outcome> outcome = outcome_of(run);
    if (!outcome || outcome->failed) continue;
    const JsonReader result(outcome->text, {.name = "the result of an evaluation"});
    tested.top1.back() = share_at(result, "top1");
    tested.top1_leak_free.back() = share_at(result, "top1_leak_free");
  }
  return tested;
}

std::vector<TestedArm> tested_arms(const std::vector<SweepArm>& arms,
                                   const std::vector<std::size_t>& places, std::uint64_t images,
                                   const OutcomeOf& outcome_of) {
  std::vector<TestedArm> tested;
  for (const std::size_t place : places) {
    tested.push_back({tested_runs(arms[place].jobs, outcome_of), place});
    if (tested.size() > 1) {
      tested.back().versus_all = difference(tested.front(), tested.back(), images);
    }
  }
  return tested;
}

std::string in_words(const LastLook& look, const std::vector<SweepArm>& arms) {
  if (look.arms.empty()) return look.why_not;
  std::string text;
  std::string with_them;
  for (const TestedArm& arm : look.arms) {
    text += (text.empty() ? "" : ", ") + arms[arm.arm].name + " " +
            mean_in_percent(judged_by(arm), "no run");
    if (arm.versus_all && arm.versus_all->interval) {
      text += " (" + in_points(*arm.versus_all) + ")";
    }
    with_them += (with_them.empty() ? "" : ", ") + mean_in_percent(arm.top1, "no run");
  }
  text =
      fmt::format("test, {}, evaluated after the choice: {}", count_of(look.images, "image"), text);
  if (look.leaked == 0) {
    text += "; none of them has a duplicate in training";
  } else if (is_leak_free(look.arms.front())) {
    text += fmt::format("; these without the {} a duplicate in training, with them {}",
                        count_of(look.leaked, "that has", "that have"), with_them);
  } else {
    text += "; all of them have a duplicate in training";
  }
  if (look.looks > 1) {
    text +=
        fmt::format("; it was evaluated for {} different choices so far, so it is no longer unseen",
                    grouped(look.looks));
  }
  return text;
}

}  // namespace winnow::app
