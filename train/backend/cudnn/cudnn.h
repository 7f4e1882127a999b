#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

namespace cudnn {
class Device;
}

// The backend for NVIDIA cards.
//
// Kernels   convolutions by cuDNN's graph API, linear layers by cuBLASLt, the rest own NHWC kernels
// Types     f32, tf32, bf16 and f16. Parameters, statistics, losses and gradients stay f32.
// Card      options.device modulo the number of cards that this process sees
// Choices   KernelChoices of convolutions are imposed; of matrix products they are compared.
// Errors    Error where this build has no CUDA or this machine has no card that it can use
std::unique_ptr<Backend> make_cudnn_backend(const BackendOptions& options);

// The same on a device that is there already.
std::unique_ptr<Backend> make_cudnn_backend(std::shared_ptr<cudnn::Device> device);

}  // namespace winnow::train
