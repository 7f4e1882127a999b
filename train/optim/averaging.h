#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "train/optim/options.h"
#include "train/optim/rule.h"
#include "train/tensor/device_function.h"

namespace winnow::train {

// Largest number of steps between two updates of an average.
inline constexpr double kMostStepsBetween = 1e9;

inline constexpr std::array kAveragingOptions{
    Option{.key = "ema_decay",
           .what = "Decay of an exponential moving average of the weights, e.g. 0.9999, kept and "
                   "evaluated too (0 = off)",
           .range = {.most = 1, .below_most = true},
           .later = true},
    Option{.key = "ema_steps",
           .what = "Update the moving average every N steps",
           .initial = 1,
           .range = {.least = 1, .most = kMostStepsBetween},
           .later = true},
    Option{.key = "lookahead_steps",
           .what =
               "Lookahead: every N steps, set the weights to a point between old and new (0 = off)",
           .range = {.most = kMostStepsBetween},
           .later = true},
    Option{.key = "lookahead_alpha",
           .what = "Lookahead: the point; 0 is the old weights, 1 the new",
           .initial = 0.5,
           .range = {.most = 1, .above_least = true},
           .later = true},
    Option{.key = "lookahead_power",
           .what = "Lookahead: let the point fall from 1 to --lookahead-alpha over the run, as "
                   "progress^P (0 = constant)",
           .range = {.most = 100},
           .later = true}};

// A moving average of a tensor over the steps of a run. It starts with the tensor's initial value.
// The same code is compiled for the host and, by nvcc, for the device.
struct Averaging {
  std::int64_t every = 0;  // steps between two updates; 0: no average
  double decay = 0;        // factor in each update: average += (1 - decay) (value - average)
  // After step s of `steps`, the decay is multiplied by (s / steps)^power; 0: constant.
  std::int64_t power = 0;
  std::int64_t steps = 1;  // number of steps of the run
  bool grows = false;  // whether update n = 1, 2, ... uses at most (1 + n) / (10 + n) as its decay
  bool takes_back = false;  // whether each update also sets the value to the average

  struct Factors {
    float weight;
    bool due, takes_back;
  };
  WINNOW_DEVICE_FN Factors factors(std::int64_t step) const {
    const auto n = static_cast<double>((step + 1) / every);
    const double early = (1 + n) / (10 + n);
    const double part = static_cast<double>(step + 1) / static_cast<double>(steps);
    const double late = decay * whole_power(part, power);
    const double now = grows && early < late ? early : late;
    return {static_cast<float>(1 - now), (step + 1) % every == 0, takes_back};
  }
  WINNOW_DEVICE_FN static void update(const Factors& f, float& value, float& average) {
    average += f.weight * (value - average);
    if (f.takes_back) value = average;
  }
};

// Updates the average of a tensor in host memory after step `step`. Does nothing if how.every is 0.
void update_average(const Averaging& how, std::int64_t step, std::span<float> value,
                    std::span<float> average);

// Returns the exponential moving average of parameters and running statistics that is used for
// evaluation. Its decay grows as in TensorFlow's ExponentialMovingAverage with num_updates, so that
// the initial weights are soon forgotten.
Averaging ema_of(const OptionValues& given);
// Returns Lookahead's slow weights of the parameters (Zhang et al. 2019, arXiv:1907.08610,
// Algorithm 1), for a run of `steps` steps.
Averaging lookahead_of(const OptionValues& given, std::int64_t steps = 1);

}  // namespace winnow::train
