#include "train/plan/steps_to_target.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>

#include "common/error.h"

namespace winnow::train {
namespace {

using Runs = std::vector<ReachedTarget>;

struct Line {
  double at_zero = 0;  // at 1 / B = 0
  double slope = 0;
};

std::size_t batches_of(std::span<const ReachedTarget> runs) {
  std::set<double> batches;
  for (const ReachedTarget& run : runs) batches.insert(run.batch);
  return batches.size();
}

// Moments over runs, each divided by the square of its steps.
struct Moments {
  double one = 0, x = 0, xx = 0, y = 0, xy = 0;
};

// Least squares with two unknowns that must not be negative: a negative one is set to 0.
Line fit(std::span<const ReachedTarget> runs) {
  Moments s;
  for (const ReachedTarget& run : runs) {
    const double x = 1 / run.batch;
    const double weight = 1 / (run.steps * run.steps);
    s.one += weight;
    s.x += weight * x;
    s.xx += weight * x * x;
    s.y += weight * run.steps;
    s.xy += weight * x * run.steps;
  }
  const double determinant = s.one * s.xx - s.x * s.x;
  const Line free{(s.xx * s.y - s.x * s.xy) / determinant,
                  (s.one * s.xy - s.x * s.y) / determinant};
  if (free.slope < 0) return {s.y / s.one, 0};
  if (free.at_zero < 0) return {0, s.xy / s.xx};
  return free;
}

// The fits that define a range; the first is that of all runs.
std::vector<Line> fits(std::span<const ReachedTarget> runs) {
  std::vector<Line> lines{fit(runs)};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Runs changed(runs.begin(), runs.end());
    if (runs[i].before > 0) {
      changed[i].steps = runs[i].before;
      lines.push_back(fit(changed));
    }
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    if (batches_of(changed) >= 2) lines.push_back(fit(changed));
  }
  return lines;
}

template <class Value>
Interval interval_of(const std::vector<Line>& lines, Value value) {
  Interval range{std::numeric_limits<double>::infinity(), 0};
  for (const Line& line : lines) {
    range.least = std::min(range.least, value(line));
    range.most = std::max(range.most, value(line));
  }
  return range;
}

void check(std::span<const ReachedTarget> runs) {
  if (batches_of(runs) >= 2) return;
  throw UsageError("how steps depend on the batch size needs runs with at least two batch sizes");
}

}  // namespace

StepsToTarget fit_steps_to_target(std::span<const ReachedTarget> runs) {
  check(runs);
  const std::vector<Line> lines = fits(runs);
  return {.least_steps = lines.front().at_zero,
          .least_examples = lines.front().slope,
          .steps_range = interval_of(lines, [](const Line& line) { return line.at_zero; }),
          .examples_range = interval_of(lines, [](const Line& line) { return line.slope; })};
}

Interval steps_range_at(std::span<const ReachedTarget> runs, double batch) {
  check(runs);
  return interval_of(fits(runs),
                     [&](const Line& line) { return line.at_zero + line.slope / batch; });
}

double critical_batch(const StepsToTarget& fit) noexcept {
  return fit.least_steps > 0 ? fit.least_examples / fit.least_steps
                             : std::numeric_limits<double>::infinity();
}

}  // namespace winnow::train
