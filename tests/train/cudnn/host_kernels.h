#pragma once

#include <cstdint>

#include "train/backend/cudnn/kernels.h"

namespace winnow::train::cudnn::kernels {

// In which order blocks, and in each phase the threads of a block, have their turns. Shuffled also
// takes no more than three blocks a launch.
enum class ThreadOrder : std::uint8_t { kAscending, kDescending, kShuffled };

// The kernels of the card as functions of the host, for streams that are HostStreams. A block's
// shared memory begins as NaN.
const Table& host_kernels(ThreadOrder order = ThreadOrder::kAscending) noexcept;

}  // namespace winnow::train::cudnn::kernels
