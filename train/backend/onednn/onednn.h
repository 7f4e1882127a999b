#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// The backend for CPUs.
//
// Kernels   convolutions and linear layers by oneDNN, the rest own NHWC kernels (kernels.h).
// Types     f32 and bf16. Parameters, statistics, losses and parameter gradients stay f32.
// Choices   oneDNN chooses by itself: KernelChoices can be compared, not imposed.
std::unique_ptr<Backend> make_onednn_backend();

}  // namespace winnow::train
