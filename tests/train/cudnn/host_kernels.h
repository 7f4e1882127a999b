#pragma once

#include "train/backend/cudnn/kernels.h"

namespace winnow::train::cudnn::kernels {

// The card's kernels as host functions, for streams that are HostStreams. A block's shared memory
// begins as NaN.
const Table& host_kernels() noexcept;

}  // namespace winnow::train::cudnn::kernels
