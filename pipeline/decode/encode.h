#pragma once

#include "common/bytes.h"
#include "common/image.h"

namespace winnow::pipeline {

// The image as a PNG, gray for one channel: decode() gives the same pixels back. The same image
// gives the same bytes with the same libraries. Safe from many threads. Throws Error when it
// cannot be encoded.
Bytes encode_png(const ImageView& image);

}  // namespace winnow::pipeline
