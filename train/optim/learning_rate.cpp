#include "train/optim/learning_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "common/error.h"
#include "train/optim/multistep.h"

namespace winnow::train {
namespace {

double poly(const SchedulePoint& at, const ChosenOptions&) {
  return at.end + (at.base - at.end) * (1 - at.progress) * (1 - at.progress);
}

double cosine(const SchedulePoint& at, const ChosenOptions&) {
  return at.end + (at.base - at.end) * (1 + std::cos(std::numbers::pi * at.progress)) / 2;
}

double constant(const SchedulePoint& at, const ChosenOptions&) { return at.base; }

constexpr std::array kSchedules{
    LrSchedule{
        "poly", "(1 - progress)^2, LARS's, restarted after the warm-up as MLPerf does", {}, &poly},
    LrSchedule{"cosine", "(1 + cos(pi progress)) / 2", {}, &cosine},
    LrSchedule{"constant", "no decay", {}, &constant},
    LrSchedule{"multistep", "times gamma at each milestone (He et al. 2016)", kMultistepOptions,
               &multistep_rate},
};

}  // namespace

std::span<const LrSchedule> lr_schedules() { return kSchedules; }

std::vector<std::string> lr_schedule_names() {
  std::vector<std::string> names;
  for (const LrSchedule& row : kSchedules) names.emplace_back(row.name);
  return names;
}

const LrSchedule& find_lr_schedule(std::string_view name) {
  std::string known;
  for (const LrSchedule& row : kSchedules) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("unknown schedule '" + std::string(name) + "'; known: " + known);
}

double rate_at(const LearningRate& rate, std::int64_t step) {
  if (step < rate.warmup_steps) {
    return rate.base * static_cast<double>(step + 1) / static_cast<double>(rate.warmup_steps);
  }
  const double span =
      static_cast<double>(std::max<std::int64_t>(1, rate.total_steps - rate.warmup_steps));
  const SchedulePoint at{
      .base = rate.base,
      .end = rate.end,
      .progress = std::min(1.0, static_cast<double>(step - rate.warmup_steps) / span),
      .step = step,
      .steps_per_epoch = rate.steps_per_epoch};
  return rate.schedule.rate(at, ChosenOptions(rate.schedule.options, rate.options));
}

}  // namespace winnow::train
