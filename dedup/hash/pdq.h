#pragma once

#include <memory>

#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// PDQ (Facebook 2019), bit for bit as its C++ reference computes it for an image that is not shrunk
// first.
//
// 1. Luma in float; two passes of a box filter along rows and columns; samples at 64x64 points.
// 2. DCT, frequencies 1..16 of both axes. A bit is 1 if its coefficient is above the median (the
//    lower of the two middle values).
// Code    In the order of PDQ's text form. Images with a side under 5 px have code 0 and quality 0.
// unused  Ignored: this hash needs no resampling weights.
// One DCT serves all orientations (hash_name.h).
std::unique_ptr<HashStream> begin_pdq(int height_px, int width_px, int channels, int orientations,
                                      ResampleWeights* unused);

}  // namespace winnow::dedup
