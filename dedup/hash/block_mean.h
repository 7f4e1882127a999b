#pragma once

#include <memory>

#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// Block mean hash (Yang et al. 2006), as OpenCV 4's img_hash::BlockMeanHash of mode 0 computes it.
// Resizes to 256x256 with two source pixels an axis (INTER_LINEAR_EXACT), converts to gray, and
// compares the mean of each of 16x16 blocks with the overall mean (at least as bright: 1). The code
// reads as OpenCV's bytes.
std::unique_ptr<HashStream> begin_block_mean(int height_px, int width_px, int channels,
                                             int orientations, ResampleWeights* unused);

}  // namespace winnow::dedup
