#pragma once

#include "common/bytes.h"
#include "common/image.h"

namespace winnow::pipeline {

// Encodes an image as PNG: gray for one channel, with alpha for four. decode() restores the same
// pixels, except for alpha. The same image gives the same bytes with the same libraries.
// Thread-safe.
// Errors  Error if the image cannot be encoded.
Bytes encode_png(const ImageView& image);

// The most pixels that a side of a JPEG can have.
inline constexpr int kMaxJpegSide = 65'500;

// Encodes an image as baseline JPEG, like Pillow's save(quality=quality): chroma at half size in
// both directions, gray for one channel, libjpeg-turbo's accurate DCT. The same image gives the
// same bytes with the same libraries. Thread-safe.
// Errors  UsageError for a quality outside 1 to 100; Error for an image without pixels or with a
//         side over kMaxJpegSide.
Bytes encode_jpeg(const ImageView& image, int quality);

}  // namespace winnow::pipeline
