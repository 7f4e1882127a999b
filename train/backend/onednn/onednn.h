#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// The CPU backend.
//
// Kernels   oneDNN for convolutions and linear layers; our own NHWC kernels for the rest
//           (kernels.h).
// Types     f32 and bf16. Parameters, statistics, losses and parameter gradients stay f32.
// Choices   KernelChoices of convolutions and linear layers can be imposed; otherwise oneDNN
//           chooses.
std::unique_ptr<Backend> make_onednn_backend();

}  // namespace winnow::train
