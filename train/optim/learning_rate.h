#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/optim/options.h"

namespace winnow::train {

// A step after the warm-up, as a schedule sees it.
struct SchedulePoint {
  double base = 0;      // learning rate at the end of the warm-up
  double end = 0;       // learning rate at the end of the run
  double progress = 0;  // from the end of the warm-up to the end of the run, in [0, 1]
  std::int64_t step = 0;
  double steps_per_epoch = 1;
};

// A row of the table of learning-rate schedules.
struct LrSchedule {
  std::string_view name;
  std::string_view what;
  std::span<const Option> options;
  double (*rate)(const SchedulePoint& at, const ChosenOptions& chosen);
};

std::span<const LrSchedule> lr_schedules();
std::vector<std::string> lr_schedule_names();               // in the order of the table
const LrSchedule& find_lr_schedule(std::string_view name);  // UsageError naming the known ones

struct LearningRate {
  double base = 0.1;
  double end = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  double steps_per_epoch = 1;
  const LrSchedule& schedule;
  OptionValues options{};
};

// The learning rate of step t = 0, 1, ...: base (t+1)/warmup while t < warmup (Goyal et al. 2017),
// then what the schedule says, at progress (t - warmup) / (total - warmup).
double rate_at(const LearningRate& rate, std::int64_t step);

}  // namespace winnow::train
