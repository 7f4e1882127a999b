#include "train/optim/learning_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "common/row_called.h"
#include "train/optim/multistep.h"
#include "train/optim/onecycle.h"
#include "train/optim/rate_options.h"

namespace winnow::train {
namespace {

constexpr std::array kPolyOptions{Option{.key = "power",
                                         .what = "Power of the decay; 1 is a straight line (poly)",
                                         .initial = 2,
                                         .range = {.above_least = true},
                                         .later = true}};

double poly(const SchedulePoint& at, const ChosenOptions& chosen) {
  const double left = 1 - at.progress;
  const double power = chosen.number("power");
  if (power == 2) return at.end + (at.base - at.end) * left * left;
  return at.end + (at.base - at.end) * std::pow(left, power);
}

double cosine(const SchedulePoint& at, const ChosenOptions&) {
  return at.end + (at.base - at.end) * (1 + std::cos(std::numbers::pi * at.progress)) / 2;
}

double constant(const SchedulePoint& at, const ChosenOptions&) { return at.base; }

constexpr std::array kSchedules{
    LrSchedule{
        .name = "poly",
        .what = "(1 - progress)^power, as for LARS; progress starts after the warm-up as in MLPerf",
        .options = kPolyOptions,
        .rate = &poly,
        .has_end = true},
    LrSchedule{.name = "cosine",
               .what = "(1 + cos(pi progress)) / 2",
               .options = {},
               .rate = &cosine,
               .has_end = true},
    LrSchedule{"constant", "no decay", {}, &constant},
    LrSchedule{"multistep", "multiplied by gamma at each milestone (He et al. 2016)",
               kMultistepOptions, &multistep_rate},
    LrSchedule{"onecycle", "rises, then falls, along half cosines (Smith and Topin 2017)",
               kOnecycleOptions, &onecycle_rate, /*warms_up=*/true},
};

// The first step of the epoch that contains `step`.
std::int64_t epoch_begin(std::int64_t step, double steps_per_epoch) {
  auto epoch = static_cast<std::int64_t>(static_cast<double>(step) / steps_per_epoch);
  const auto begin = [&](std::int64_t e) {
    return std::llround(static_cast<double>(e) * steps_per_epoch);
  };
  while (begin(epoch) > step) --epoch;
  while (begin(epoch + 1) <= step) ++epoch;
  return begin(epoch);
}

struct RateShape {
  double warmup;  // first rate; 0: as in Goyal et al.
  double end;
  std::int64_t cooldown_steps;
  bool per_epoch;
};

RateShape shape_of(const LearningRate& rate) {
  const ChosenOptions chosen(kRateOptions, rate.options);
  return {.warmup = chosen.number("lr_warmup"),
          .end = chosen.number("lr_end"),
          .cooldown_steps = std::llround(chosen.number("cooldown_epochs") * rate.steps_per_epoch),
          .per_epoch = chosen.is_on("lr_per_epoch")};
}

double warmup_rate(const LearningRate& rate, const RateShape& shape, std::int64_t step) {
  const auto all = static_cast<double>(rate.warmup_steps);
  if (shape.warmup > 0) {
    return shape.warmup + (rate.base - shape.warmup) * static_cast<double>(step) / all;
  }
  if (!shape.per_epoch) return rate.base * static_cast<double>(step + 1) / all;
  return rate.base * std::min(1.0, (static_cast<double>(step) + rate.steps_per_epoch) / all);
}

}  // namespace

std::span<const LrSchedule> lr_schedules() { return kSchedules; }

std::vector<std::string> lr_schedule_names() {
  std::vector<std::string> names;
  for (const LrSchedule& row : kSchedules) names.emplace_back(row.name);
  return names;
}

const LrSchedule& find_lr_schedule(std::string_view name) {
  return row_called("unknown schedule", name, kSchedules);
}

double rate_at(const LearningRate& rate, std::int64_t step) {
  const RateShape shape = shape_of(rate);
  const std::int64_t at = shape.per_epoch ? epoch_begin(step, rate.steps_per_epoch) : step;
  const std::int64_t warmup = rate.schedule.warms_up ? 0 : rate.warmup_steps;
  if (at < warmup) return warmup_rate(rate, shape, at);
  // first step of the cooldown
  const std::int64_t cooldown = rate.total_steps - shape.cooldown_steps;
  const auto span = static_cast<double>(std::max<std::int64_t>(1, cooldown - warmup));
  const auto scheduled = [&](std::int64_t t) {
    const SchedulePoint point{.base = rate.base,
                              .end = shape.end,
                              .progress = std::min(1.0, static_cast<double>(t - warmup) / span),
                              .steps = span,
                              .step = t,
                              .steps_per_epoch = rate.steps_per_epoch};
    return rate.schedule.rate(point, ChosenOptions(rate.schedule.options, rate.options));
  };
  if (shape.cooldown_steps == 0 || at < cooldown) return scheduled(at);
  const double done =
      static_cast<double>(at - cooldown) / static_cast<double>(shape.cooldown_steps);
  const double last = scheduled(std::max(warmup, cooldown));
  return last + (shape.end - last) * std::min(1.0, done);
}

double scaled_rate(double lr, double base_size, double batch, bool root) {
  if (base_size == 0) return lr;
  const double ratio = batch / base_size;
  return lr * (root ? std::sqrt(ratio) : ratio);
}

}  // namespace winnow::train
