#pragma once

#include <array>

#include "train/optim/learning_rate.h"

namespace winnow::train {

inline constexpr std::array kOnecycleOptions{
    Option{"pct_start", "Share of the run in which the learning rate rises (onecycle)",
           OptionKind::kNumber, 0.3, Range{.most = 1, .above_least = true, .below_most = true}},
    Option{"div_factor", "The first learning rate is --lr divided by this (onecycle)",
           OptionKind::kNumber, 25, Range{.least = 1}},
    Option{"final_div_factor", "The last learning rate is the first divided by this (onecycle)",
           OptionKind::kNumber, 1e4, Range{.least = 1}}};

// The one-cycle schedule, as torch.optim.lr_scheduler.OneCycleLR with two phases of half a cosine.
// Momentum is not cycled.
// Up      From base / div_factor to base, at step pct_start * steps - 1.
// Down    From base to base / div_factor / final_div_factor, at the last step.
// Source  Smith and Topin 2017, arXiv:1708.07120.
double onecycle_rate(const SchedulePoint& at, const ChosenOptions& chosen);

}  // namespace winnow::train
