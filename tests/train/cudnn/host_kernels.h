#pragma once

#include "train/backend/cudnn/kernels.h"

namespace winnow::train::cudnn::kernels {

// The card's kernels as host functions. Every stream must be a HostStream.
// The shared memory of a block begins as NaN.
const Table& host_kernels() noexcept;

}  // namespace winnow::train::cudnn::kernels
