#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// The CPU backend.
//
// Kernels   convolutions and linear layers by oneDNN, the rest own NHWC kernels (kernels.h).
// Types     f32 and bf16. Parameters, statistics, losses and parameter gradients stay f32.
// Choices   KernelChoices of convolutions and linear layers are imposed; else oneDNN chooses.
std::unique_ptr<Backend> make_onednn_backend();

}  // namespace winnow::train
