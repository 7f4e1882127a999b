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
  double steps = 1;     // from the end of the warm-up to the end of the run
  std::int64_t step = 0;
  double steps_per_epoch = 1;
};

// A row of the table of learning-rate schedules.
struct LrSchedule {
  std::string_view name;
  std::string_view what;
  std::span<const Option> options;
  double (*rate)(const SchedulePoint& at, const ChosenOptions& chosen);
  bool warms_up = false;  // by itself: the run has no other warm-up
  bool has_end = false;   // it leads to SchedulePoint::end
};

std::span<const LrSchedule> lr_schedules();
std::vector<std::string> lr_schedule_names();               // in the order of the table
const LrSchedule& find_lr_schedule(std::string_view name);  // UsageError naming the known ones

struct LearningRate {
  double base = 0.1;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  double steps_per_epoch = 1;
  const LrSchedule& schedule;
  OptionValues options{};  // of the schedule and of kRateOptions
};

// The learning rate of step t = 0, 1, ...
//   Warm-up    t < warmup: base (t+1)/warmup (Goyal et al. 2017). With option lr_warmup from there
//              to base by even parts, lr_warmup at t = 0, as PyTorch's LinearLR.
//   Schedule   what it says at progress (t - warmup) / (total - cooldown - warmup).
//   Warm-down  the last cooldown steps: from what the schedule said last to lr_end by even parts.
// With option lr_per_epoch t is the first step of the epoch, and the first epochs of Goyal's
// warm-up have (epoch+1) / (epochs of the warm-up) of the base.
double rate_at(const LearningRate& rate, std::int64_t step);

// `lr`, which is for a batch of `base_size`, for one of `batch`: times their ratio (Krizhevsky
// 2014, Goyal et al. 2017), or with `root` times its square root. `lr` itself where base_size is 0.
double scaled_rate(double lr, double base_size, double batch, bool root);

}  // namespace winnow::train
