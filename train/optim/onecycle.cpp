#include "train/optim/onecycle.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace winnow::train {
namespace {

// Half a cosine from `first` at share 0 to `last` at share 1.
double anneal(double first, double last, double share) {
  return last + (first - last) / 2 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace

double onecycle_rate(const SchedulePoint& at, const ChosenOptions& chosen) {
  const double first = at.base / chosen.number("div_factor");
  const double last = first / chosen.number("final_div_factor");
  const double end = at.steps - 1;
  const double peak = chosen.number("pct_start") * at.steps - 1;
  const double now = at.progress * at.steps;
  if (now <= peak) return anneal(first, at.base, peak > 0 ? now / peak : 1);
  return anneal(at.base, last, std::min(1.0, (now - peak) / std::max(end - peak, 1e-9)));
}

}  // namespace winnow::train
