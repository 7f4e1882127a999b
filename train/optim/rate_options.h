#pragma once

#include <array>

#include "train/optim/options.h"

namespace winnow::train {

// Options of the learning rate for all schedules; see LearningRate.
inline constexpr std::array kRateOptions{
    Option{.key = "lr_base_size",
           .what = "Batch that --lr is for: it is multiplied by --batch-size / this; 0: it is for "
                   "--batch-size",
           .later = true},
    Option{.key = "lr_sqrt",
           .what = "Multiply by the square root of --batch-size / --lr-base-size instead",
           .kind = OptionKind::kSwitch,
           .later = true},
    Option{.key = "lr_warmup",
           .what = "Learning rate that the warm-up begins with; 0: that of Goyal et al., an even "
                   "part of --lr in every step",
           .later = true},
    Option{.key = "lr_end",
           .what = "Learning rate at the end of the run (poly, cosine, and of a warm-down)",
           .later = true},
    Option{.key = "cooldown_epochs",
           .what = "Epochs of linear warm-down to --lr-end, after the schedule",
           .range = {.most = kMostEpochs},
           .later = true},
    Option{.key = "lr_per_epoch",
           .what = "Change the learning rate where epochs begin, not at every step",
           .kind = OptionKind::kSwitch,
           .later = true}};

}  // namespace winnow::train
