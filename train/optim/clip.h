#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "train/optim/options.h"

namespace winnow::train {

inline constexpr std::array kClipOptions{
    Option{.key = "clip_grad_norm",
           .what = "Clip the gradients of a step to this global norm (0 = off)",
           .later = true},
    Option{.key = "clip_grad_value",
           .what = "Clip every element of the gradients to [-X, X] (0 = off)",
           .later = true}};

// Limits for the gradients of a step, applied before the optimiser. 0: no limit.
struct GradientClip {
  double norm = 0;
  double value = 0;
};
GradientClip clip_from(const OptionValues& given);

// Clips gradients in place, as torch.nn.utils.clip_grad_value_ and then clip_grad_norm_.
// Value      Every element is limited to [-clip.value, clip.value].
// Norm       All gradients are multiplied by clip.norm / (|g| + 1e-6) if that is below 1. |g| is
//            the L2 norm over all tensors.
// gradients  Those of all parameters, one tensor each, finite.
// Out        |g| before clipping by norm; nullopt if clip.norm is 0.
// Bits       Depend only on the numbers and the order of the tensors.
std::optional<double> clip_gradients(std::span<const std::span<float>> gradients,
                                     const GradientClip& clip);

// Clips the gradients of each stage of a net separately, if each stage has a loss of its own.
// `stages` has the gradients of each stage.
// Out  The norm of all gradients together, before clipping by norm; nullopt if clip.norm is 0.
std::optional<double> clip_by_stage(const std::vector<std::vector<std::span<float>>>& stages,
                                    const GradientClip& clip);

// Returns the L2 norm over all tensors together, summed in double in a fixed order.
double norm_of(std::span<const std::span<float>> tensors);

}  // namespace winnow::train
