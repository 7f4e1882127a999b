#pragma once

#include <memory>

#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// Block mean (Yang et al. 2006) as OpenCV 4's img_hash::BlockMeanHash of mode 0 computes it:
// resized to 256x256 by two pixels an axis (INTER_LINEAR_EXACT), then gray, then which of 16x16
// blocks are at least as bright as the mean of all. Its code reads as the bytes of OpenCV's.
std::unique_ptr<HashStream> begin_block_mean(int height_px, int width_px, int channels,
                                             int orientations, ResampleWeights* unused);

}  // namespace winnow::dedup
