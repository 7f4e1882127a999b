#pragma once

#include "common/image.h"
#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// Composes rows with a gray background: both black and white drawings are visible on it, and
// different cut-outs of one picture differ. Content under transparent pixels is hidden.
//
// rows           1 or 3 channels, changed in place.
// alpha          One channel, of the same size; else Error.
// is_multiplied  The rows are already premultiplied by it.
void compose_on_gray(Image& rows, ImageView alpha, bool is_multiplied);

// The alpha of a picture that was decoded as a whole at `scale`, at that scale; empty: opaque.
Image alpha_at_scale(const DecodedImage& image, int scale);

// A picture that was decoded as a whole at `scale`, with its alpha kept, as people and comparisons
// see it: on gray where it is transparent.
Image as_seen(DecodedImage image, int scale);

}  // namespace winnow::pipeline
