#pragma once

#include <memory>

#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// PDQ (Facebook 2019), as its C++ reference computes it for an image that is not shrunk first.
//
// Steps  Luma in float; two passes of a box filter along rows and columns; 64x64 samples;
//        frequencies 1..16 of their DCT that are above the lower of the two middle values.
// Code   In the order of its text form. Images with a side under 5 px have code 0 and quality 0.
// One transform serves all orientations (hash_name.h).
std::unique_ptr<HashStream> begin_pdq(int height_px, int width_px, int channels, int orientations,
                                      ResampleWeights* unused);

}  // namespace winnow::dedup
