#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "train/optim/options.h"

namespace winnow::train {

inline constexpr std::array kClipOptions{
    Option{.key = "clip_grad_norm",
           .what = "Scale the gradients of a step down to this norm of all of them together; 0: "
                   "do not",
           .later = true},
    Option{.key = "clip_grad_value",
           .what = "Cut every number of the gradients off at this, up and down; 0: do not",
           .later = true}};

// What happens to the gradients of a step before the optimiser sees them. 0: nothing.
struct GradientClip {
  double norm = 0;
  double value = 0;
};
GradientClip clip_from(const OptionValues& given);

// As torch.nn.utils.clip_grad_norm_ and clip_grad_value_, the value first where both are asked for:
// a gradient above `value` becomes `value`; all are multiplied by norm / (|g| + 1e-6) if that is
// below 1, |g| being the L2 norm over all tensors.
// In      the gradients of all parameters, a tensor each, finite
// Out     |g|; none where `clip.norm` does not ask for it
// Bits    depend on the numbers and the order of the tensors alone.
std::optional<double> clip_gradients(std::span<const std::span<float>> gradients,
                                     const GradientClip& clip);

// The same of each stage of a net that learns by local updates, by itself: `stages` has the
// gradients of each.
// Out     the norm of all gradients together before
std::optional<double> clip_by_stage(const std::vector<std::vector<std::span<float>>>& stages,
                                    const GradientClip& clip);

// The L2 norm over all tensors, a sum in double of fixed order.
double norm_of(std::span<const std::span<float>> tensors);

}  // namespace winnow::train
