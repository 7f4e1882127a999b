#include "app/experiment/tune_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "common/counted.h"

namespace winnow::app {
namespace {

constexpr std::size_t kParts = 3;  // parts of a range, to group random numbers
constexpr std::size_t kLeastOfPart = 2;

// Places of trials that are close on an axis: with equal values of a list, or in the same third of
// a range. Fewer than two groups allow no statement.
std::vector<std::vector<std::size_t>> parts_of(const TuneArm& arm, std::size_t axis) {
  std::map<double, std::vector<std::size_t>> by_value;
  for (std::size_t i = 0; i < arm.settings.size(); ++i) {
    by_value[arm.settings[i][axis]].push_back(i);
  }
  std::vector<std::vector<std::size_t>> parts;
  if (!arm.axes[axis].is_drawn()) {
    for (auto& [value, places] : by_value) parts.push_back(std::move(places));
    return parts;
  }
  const std::size_t count = arm.settings.size();
  if (count < kParts * kLeastOfPart) return {};
  std::vector<std::size_t> ascending;
  for (const auto& [value, places] : by_value) {
    ascending.insert(ascending.end(), places.begin(), places.end());
  }
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::span all(ascending);
    const auto some =
        all.subspan(part * count / kParts, (part + 1) * count / kParts - part * count / kParts);
    parts.emplace_back(some.begin(), some.end());
  }
  return parts;
}

double best_of(const std::vector<TrialScore>& scores, const std::vector<std::size_t>& places) {
  double best = 0;  // accuracy of those that diverged: 0
  for (const std::size_t place : places) {
    if (!scores[place].failed) best = std::max(best, scores[place].top1);
  }
  return best;
}

std::optional<double> at_stake(const TuneArm& arm, std::size_t axis,
                               const std::vector<TrialScore>& scores) {
  const auto parts = parts_of(arm, axis);
  if (parts.size() < 2) return std::nullopt;
  std::vector<double> bests;
  for (const auto& part : parts) bests.push_back(best_of(scores, part));
  const auto [least, most] = std::ranges::minmax(bests);
  return most - least;
}

void put_finals(const ArmRuns& runs, const TuneJudge& judge, TuneRow& row) {
  std::vector<double> known;
  double seconds = 0;
  for (const std::optional<TunedRun>& run : runs.finals) {
    row.top1.emplace_back();
    if (!run) continue;
    if (run->score.failed) {
      ++row.finals_diverged;
      continue;
    }
    row.top1.back() = run->score.top1;
    row.steps = run->steps;
    seconds += run->seconds;
    known.push_back(run->score.top1);
  }
  if (known.empty()) return;
  row.seconds = seconds / static_cast<double>(known.size());
  const PairedDifference from_0 =
      paired_difference(std::vector<double>(known.size()), known, kConfidence,
                        1 / static_cast<double>(judge.held_out_images));
  row.mean = from_0.mean;
  if (from_0.pairs < 2) return;
  row.deviation = from_0.deviation;
  row.interval = {std::max(0.0, from_0.interval->least), std::min(1.0, from_0.interval->most)};
}

std::optional<PairedDifference> beside(const TuneRow& first, const TuneRow& row,
                                       const TuneJudge& judge) {
  std::vector<double> a;
  std::vector<double> b;
  for (std::size_t seed = 0; seed < std::min(first.top1.size(), row.top1.size()); ++seed) {
    if (!first.top1[seed] || !row.top1[seed]) continue;
    a.push_back(*first.top1[seed]);
    b.push_back(*row.top1[seed]);
  }
  if (a.empty()) return std::nullopt;
  return paired_difference(a, b, kConfidence, 1 / static_cast<double>(judge.held_out_images));
}

std::size_t count_diverged(const ArmRuns& runs) {
  std::set<std::size_t> diverged;
  for (std::size_t rung = 0; rung < runs.rungs.size(); ++rung) {
    for (std::size_t i = 0; i < runs.rungs[rung].size(); ++i) {
      const std::optional<TunedRun>& run = runs.rungs[rung][i];
      if (run && run->score.failed) diverged.insert(runs.halving.trials[rung][i]);
    }
  }
  return diverged.size();
}

void compare(const std::vector<TuneArm>& arms, const TuneJudge& judge, std::vector<TuneRow>& rows) {
  std::map<std::uint64_t, std::size_t> first_of;  // by batch
  std::vector<std::size_t> compared;
  std::vector<double> p;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const auto [first, is_first] = first_of.try_emplace(arms[i].batch, i);
    if (is_first) continue;
    rows[i].versus_first = beside(rows[first->second], rows[i], judge);
    // Without this, a setting that sometimes diverges would be judged by its other runs alone.
    const bool whole = rows[i].finals_diverged == 0 && rows[first->second].finals_diverged == 0;
    if (!whole || !rows[i].versus_first || !rows[i].versus_first->p) continue;
    compared.push_back(i);
    p.push_back(*rows[i].versus_first->p);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < compared.size(); ++i) rows[compared[i]].p = adjusted[i];
}

// Where to look beyond an end: one more value at the list's spacing, or three times as far.
double beyond(const AxisFinding& finding) {
  const TuneAxis& axis = finding.axis;
  const std::size_t count = axis.values.size();
  const bool up = finding.is_highest;
  if (axis.scale == AxisScale::kEven) {
    const double step = count > 1 ? up ? axis.values[count - 1] - axis.values[count - 2]
                                       : axis.values[1] - axis.values[0]
                                  : axis.most - axis.least;
    return std::max(0.0, finding.best + (up ? step : -step));
  }
  // The number that is spread logarithmically, and back.
  const auto turned = [&](double x) { return axis.scale == AxisScale::kToOne ? 1 - x : x; };
  double factor = 3;
  if (count > 1) {
    const double last = turned(axis.values[up ? count - 1 : 0]);
    const double before = turned(axis.values[up ? count - 2 : 1]);
    factor = std::max(last / before, before / last);
  }
  const bool grows = up == (axis.scale == AxisScale::kLogarithmic);
  const double best = turned(finding.best);
  return std::max(0.0, turned(grows ? best * factor : best / factor));
}

std::string at_an_end(const TuneArm& arm, const AxisFinding& finding) {
  const TuneAxis& axis = finding.axis;
  const double next = beyond(finding);
  const std::string what =
      fmt::format("{}: the best --{}, {:.6g}, is the {} that was tried", arm.name(), axis.flag,
                  finding.best, finding.is_highest ? "highest" : "lowest");
  if (axis.is_drawn() && axis.least < next && next < axis.most) {  // no trial was near this end
    return what + "; try more --trials, or a range around it";
  }
  return what +
         fmt::format("; widen it, {} {:.3g}", finding.is_highest ? "up to" : "down to", next);
}

}  // namespace

std::vector<AxisFinding> findings_of(const TuneArm& arm, const std::vector<TrialScore>& scores,
                                     std::size_t best) {
  std::vector<AxisFinding> findings;
  for (std::size_t axis = 0; axis < arm.axes.size(); ++axis) {
    std::vector<double> tried;
    for (const TuneSetting& setting : arm.settings) tried.push_back(setting[axis]);
    const auto [least, most] = std::ranges::minmax(tried);
    const double value = arm.settings[best][axis];
    findings.push_back({.axis = arm.axes[axis],
                        .best = value,
                        .is_lowest = least < most && value == least && value > 0,
                        .is_highest = least < most && value == most,
                        .at_stake = at_stake(arm, axis, scores)});
  }
  return findings;
}

std::vector<TuneRow> rows_of(const std::vector<TuneArm>& arms, const std::vector<ArmRuns>& runs,
                             const TuneJudge& judge) {
  std::vector<TuneRow> rows;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    TuneRow row{.best = runs[i].halving.best, .diverged = count_diverged(runs[i])};
    if (row.best) {
      std::vector<TrialScore> scores;
      for (const std::optional<TunedRun>& run : runs[i].rungs.front()) scores.push_back(run->score);
      row.findings = findings_of(arms[i], scores, *row.best);
    }
    put_finals(runs[i], judge, row);
    rows.push_back(std::move(row));
  }
  compare(arms, judge, rows);
  return rows;
}

std::string in_words(const TuneArm& arm, const TuneSetting& setting) {
  std::string text;
  for (std::size_t i = 0; i < arm.axes.size(); ++i) {
    text += fmt::format("{}--{} {:.6g}", i == 0 ? "" : " ", arm.axes[i].flag, setting[i]);
  }
  return text;
}

std::vector<std::string> advice_of(const TuneArm& arm, const TuneRow& row, const TuneJudge& judge) {
  std::vector<std::string> advice;
  if (!row.best) {
    if (row.diverged > 0) {
      advice.push_back(
          fmt::format("{}: all {} trials diverged; try lower rates, or a longer "
                      "warm-up",
                      arm.name(), row.diverged));
    }
    return advice;
  }
  if (row.finals_diverged > 0) {
    advice.push_back(fmt::format(
        "{}: {} of {} of the best setting diverged, so it is close to divergence; take a "
        "lower rate, or a longer warm-up",
        arm.name(), row.finals_diverged, count_of(row.top1.size(), "final run")));
  }
  for (const AxisFinding& finding : row.findings) {
    const std::string& flag = finding.axis.flag;
    if (finding.matters_little(judge.margin)) {
      advice.push_back(fmt::format(
          "{}: --{} mattered little: {:.2f} points between its best and its worst {}", arm.name(),
          flag, 100 * *finding.at_stake, finding.axis.is_drawn() ? "third" : "value"));
    } else if (finding.is_lowest || finding.is_highest) {
      advice.push_back(at_an_end(arm, finding));
    }
  }
  return advice;
}

std::string versus_first_in_words(const TuneRow& row) {
  if (!row.p || !row.versus_first) return "";
  if (*row.p > 1 - kConfidence) return "not shown";
  return row.versus_first->mean > 0 ? "better" : "worse";
}

}  // namespace winnow::app
