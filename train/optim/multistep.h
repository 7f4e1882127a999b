#pragma once

#include <array>

#include "train/optim/learning_rate.h"

namespace winnow::train {

inline constexpr std::array kMultistepOptions{
    Option{"milestones", "Epochs at which the learning rate is multiplied by --gamma (multistep)",
           OptionKind::kNumbers, 0, Range{.most = kMostEpochs, .above_least = true}},
    Option{"gamma", "Factor on the learning rate at each milestone (multistep)",
           OptionKind::kNumber, 0.1, Range{.most = 1, .above_least = true}}};

// Returns base * gamma^n after n milestones, as torch.optim.lr_scheduler.MultiStepLR (He et al.
// 2016: gamma 0.1).
// Milestones  In epochs since the first step of the run, including the warm-up. One within an epoch
//             takes effect at the nearest step.
double multistep_rate(const SchedulePoint& at, const ChosenOptions& chosen);

}  // namespace winnow::train
