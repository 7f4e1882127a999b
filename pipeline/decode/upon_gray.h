#pragma once

#include "common/image.h"
#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// Rows of a picture as they look upon a gray ground: upon which black and white drawings show, and
// upon which cut-outs of one picture differ. What lies hidden below transparent pixels is not seen.
//
// rows           1 or 3 channels, changed in place
// alpha          one channel, as many rows and columns; throws Error for others
// is_multiplied  the rows are multiplied with it already
void lay_upon_gray(Image& rows, ImageView alpha, bool is_multiplied);

// The alpha of a picture that was decoded whole at `scale`, at that scale; empty: it is opaque.
Image alpha_at_scale(const DecodedImage& image, int scale);

// A picture that was decoded whole at `scale`, with its alpha kept, as people and comparisons see
// it: upon gray where it is transparent.
Image as_seen(DecodedImage image, int scale);

}  // namespace winnow::pipeline
