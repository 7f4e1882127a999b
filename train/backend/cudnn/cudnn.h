#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

namespace cudnn {
class Device;
}

// NVIDIA cards: convolutions by cuDNN's graph API, linear layers by cuBLASLt, the rest by own NHWC
// kernels; f32, tf32 and bf16 (f32 parameters, statistics, losses and parameter gradients). Takes
// card options.device modulo their number. Throws Error where this build has no CUDA or this
// machine no card that it can use.
std::unique_ptr<Backend> make_cudnn_backend(const BackendOptions& options);

// The same on a device that is there already.
std::unique_ptr<Backend> make_cudnn_backend(std::shared_ptr<cudnn::Device> device);

}  // namespace winnow::train
