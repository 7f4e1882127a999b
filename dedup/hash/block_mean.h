#pragma once

#include <memory>

#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// Block mean hash (Yang et al. 2006), bit for bit as OpenCV 4's img_hash::BlockMeanHash of mode 0.
//
// 1. The image is resized to 256x256 (INTER_LINEAR_EXACT: linear, from two source pixels an axis)
//    and converted to gray.
// 2. It is divided into 16x16 blocks. A bit is 1 if the mean of its block is at least the mean of
//    the whole image.
// Code    In the order of OpenCV's bytes.
// unused  Ignored: this hash needs no resampling weights.
std::unique_ptr<HashStream> begin_block_mean(int height_px, int width_px, int channels,
                                             int orientations, ResampleWeights* unused);

}  // namespace winnow::dedup
