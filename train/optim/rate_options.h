#pragma once

#include <array>

#include "train/optim/options.h"

namespace winnow::train {

// Options of the learning rate that apply to all schedules, see LearningRate.
inline constexpr std::array kRateOptions{
    Option{.key = "lr_base_size",
           .what = "Batch size that --lr was chosen for: the rate is --lr times --batch-size / N "
                   "(0 = --lr as given)",
           .later = true},
    Option{.key = "lr_sqrt",
           .what = "Use the square root of --batch-size / --lr-base-size instead",
           .kind = OptionKind::kSwitch,
           .later = true},
    Option{.key = "lr_warmup",
           .what = "Learning rate at the start of the warm-up (0 = warm up from --lr / steps, as "
                   "Goyal et al.)",
           .later = true},
    Option{
        .key = "lr_end",
        .what = "Learning rate at the end of the run (poly, cosine, and after --cooldown-epochs)",
        .later = true},
    Option{.key = "cooldown_epochs",
           .what = "Epochs of linear cooldown to --lr-end, after the schedule",
           .range = {.most = kMostEpochs},
           .later = true},
    Option{.key = "lr_per_epoch",
           .what = "Change the learning rate once per epoch, not at every step",
           .kind = OptionKind::kSwitch,
           .later = true}};

}  // namespace winnow::train
