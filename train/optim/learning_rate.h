#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/optim/options.h"

namespace winnow::train {

// Position in a run for which a schedule computes the learning rate; always after the warm-up.
struct SchedulePoint {
  double base = 0;      // learning rate at the end of the warm-up
  double end = 0;       // learning rate at the end of the run
  double progress = 0;  // in [0, 1]: 0 at the end of the warm-up, 1 at the end of the run
  double steps = 1;     // number of steps after the warm-up
  std::int64_t step = 0;
  double steps_per_epoch = 1;
};

// One learning-rate schedule: a row of lr_schedules().
struct LrSchedule {
  std::string_view name;
  std::string_view what;
  std::span<const Option> options;
  double (*rate)(const SchedulePoint& at, const ChosenOptions& chosen);
  bool warms_up = false;  // whether the schedule has a warm-up of its own, in place of the run's
  bool has_end = false;   // whether the schedule ends at SchedulePoint::end
};

std::span<const LrSchedule> lr_schedules();
std::vector<std::string> lr_schedule_names();  // names of all schedules, in table order
// Finds a schedule by name. Throws UsageError, which names the known schedules.
const LrSchedule& find_lr_schedule(std::string_view name);

struct LearningRate {
  double base = 0.1;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  double steps_per_epoch = 1;
  const LrSchedule& schedule;
  OptionValues options{};  // options of the schedule and of kRateOptions
};

// Returns the learning rate of step t = 0, 1, ... (t: `step`).
// Warm-up    For t < warmup: base (t+1)/warmup (Goyal et al. 2017). With option lr_warmup: linear
//            from lr_warmup at t = 0 to base, as PyTorch's LinearLR.
// Schedule   The schedule's rate at progress (t - warmup) / (total - cooldown - warmup).
// Cooldown   The last steps: linear from the schedule's last rate to lr_end.
// Per epoch  With option lr_per_epoch, the rate changes only at epochs: t is the first step of the
//            epoch. In Goyal's warm-up over E epochs, epoch e = 0, 1, ... has the rate base
//            (e+1)/E.
double rate_at(const LearningRate& rate, std::int64_t step);

// Scales `lr`, which was chosen for batches of `base_size`, to batches of `batch`: by their ratio
// (Krizhevsky 2014, Goyal et al. 2017), or with `root` by the square root of the ratio. Returns
// `lr` if base_size is 0.
double scaled_rate(double lr, double base_size, double batch, bool root);

}  // namespace winnow::train
