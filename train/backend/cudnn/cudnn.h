#pragma once

#include <memory>

#include "train/backend/backend.h"

namespace winnow::train {

namespace cudnn {
class Device;
}

// Creates the backend for NVIDIA GPUs.
//
// Kernels  cuDNN's graph API for convolutions, cuBLASLt for linear layers, our own NHWC kernels for
//          everything else.
// Types    f32, tf32, bf16 and f16. Parameters, statistics, losses and gradients of parameters stay
//          f32.
// Device   The GPU with index options.device modulo the number of GPUs that this process sees.
// Choices  KernelChoices are imposed for convolutions. For matrix products they are only compared:
//          another kernel is an error.
// Errors   Error if this build has no CUDA, or this machine has no usable GPU.
std::unique_ptr<Backend> make_cudnn_backend(const BackendOptions& options);

// Creates the backend on a device that is already open.
std::unique_ptr<Backend> make_cudnn_backend(std::shared_ptr<cudnn::Device> device);

}  // namespace winnow::train
