#pragma once

#include <memory>

#include "dedup/hash/hashes.h"

namespace winnow::dedup {

// PDQ (Facebook 2019), as its reference in C++ computes it of an image that is not shrunk first:
// luma in float, twice a box filter along rows and columns, 64x64 samples, frequencies 1..16 of
// their DCT above the lower of the two in the middle. Its code is in the order of its text form.
// Images with a side under 5 pixels have code 0 and quality 0.
// Of several orientations (hash_name.h) by one transform.
std::unique_ptr<HashStream> begin_pdq(int height_px, int width_px, int channels, int orientations,
                                      ResampleWeights* unused);

}  // namespace winnow::dedup
