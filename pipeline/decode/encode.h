#pragma once

#include "common/bytes.h"
#include "common/image.h"

namespace winnow::pipeline {

// The image as a PNG, gray for one channel, with alpha for four. Else decode() gives the same
// pixels back. The same image gives the same bytes with the same libraries. Safe from many threads.
// Throws Error when it cannot be encoded.
Bytes encode_png(const ImageView& image);

// The longest side of a JPEG.
inline constexpr int kMaxJpegSide = 65'500;

// The image as a baseline JPEG, as Pillow's save(quality=quality) makes it: chroma at half the size
// in both directions, gray for one channel, libjpeg-turbo's accurate DCT. The same image gives the
// same bytes with the same libraries. Safe from many threads. Throws UsageError for a quality
// outside 1 to 100, Error for an image without pixels or with a side over kMaxJpegSide.
Bytes encode_jpeg(const ImageView& image, int quality);

}  // namespace winnow::pipeline
