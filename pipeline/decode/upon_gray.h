#pragma once

#include "common/image.h"
#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// Composes rows of a transparent picture on a gray background, where black and white drawings are
// both visible, and different cut-outs of one picture differ. Colours under transparent pixels
// disappear.
//
// rows           1 or 3 channels, changed in place
// alpha          one channel, of the same size; else Error
// is_multiplied  whether the rows are premultiplied by alpha
void compose_on_gray(Image& rows, ImageView alpha, bool is_multiplied);

// The alpha channel, at `scale`, of a picture that was decoded as a whole at `scale`; empty:
// opaque.
Image alpha_at_scale(const DecodedImage& image, int scale);

// The picture as people and comparisons see it: on gray where it is transparent. It must have been
// decoded as a whole at `scale`, with its alpha kept.
Image as_seen(DecodedImage image, int scale);

}  // namespace winnow::pipeline
