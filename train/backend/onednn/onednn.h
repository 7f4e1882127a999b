#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

// Convolutions and linear layers by oneDNN, the rest by own NHWC kernels; f32 and bf16 (f32
// parameters, statistics, losses and parameter gradients).
std::unique_ptr<Backend> make_onednn_backend();

}  // namespace winnow::train
