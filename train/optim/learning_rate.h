#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/optim/options.h"

namespace winnow::train {

// Input of a schedule: a step after the warm-up.
struct SchedulePoint {
  double base = 0;      // learning rate at the end of the warm-up
  double end = 0;       // learning rate at the end of the run
  double progress = 0;  // in [0, 1]: 0 at the end of the warm-up, 1 at the end of the run
  double steps = 1;     // number of steps after the warm-up
  std::int64_t step = 0;
  double steps_per_epoch = 1;
};

// A row of the table of learning-rate schedules.
struct LrSchedule {
  std::string_view name;
  std::string_view what;
  std::span<const Option> options;
  double (*rate)(const SchedulePoint& at, const ChosenOptions& chosen);
  bool warms_up = false;  // includes its own warm-up; the run has no other
  bool has_end = false;   // ends at SchedulePoint::end
};

std::span<const LrSchedule> lr_schedules();
std::vector<std::string> lr_schedule_names();               // in table order
const LrSchedule& find_lr_schedule(std::string_view name);  // UsageError naming the known ones

struct LearningRate {
  double base = 0.1;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  double steps_per_epoch = 1;
  const LrSchedule& schedule;
  OptionValues options{};  // for the schedule and for kRateOptions
};

// The learning rate of step t = 0, 1, ...
// Warm-up    t < warmup: base (t+1)/warmup (Goyal et al. 2017). With option lr_warmup: linear from
//            that rate at t = 0 to base, as PyTorch's LinearLR.
// Schedule   Its rate at progress (t - warmup) / (total - cooldown - warmup).
// Cooldown   The last steps: linear from the schedule's last rate to lr_end.
// Per epoch  With option lr_per_epoch, t is the first step of the epoch, and the first epochs of
//            Goyal's warm-up have (epoch+1) / (epochs of the warm-up) of the base.
double rate_at(const LearningRate& rate, std::int64_t step);

// Scales `lr` from a batch of `base_size` to one of `batch`: by their ratio (Krizhevsky 2014, Goyal
// et al. 2017), or with `root` by its square root. Returns `lr` if base_size is 0.
double scaled_rate(double lr, double base_size, double batch, bool root);

}  // namespace winnow::train
