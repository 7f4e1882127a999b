#pragma once

#include "common/bytes.h"
#include "common/image.h"

namespace winnow::pipeline {

// Encodes an image as PNG: gray for one channel, with alpha for four. Except for alpha, decode()
// restores the same pixels. The same image gives the same bytes with the same libraries.
// Thread-safe.
// Errors  Error if it cannot be encoded.
Bytes encode_png(const ImageView& image);

// Maximum side of a JPEG.
inline constexpr int kMaxJpegSide = 65'500;

// Encodes an image as baseline JPEG, as Pillow's save(quality=quality): chroma at half size in both
// directions, gray for one channel, libjpeg-turbo's accurate DCT. The same image gives the same
// bytes with the same libraries. Thread-safe.
// Errors  UsageError for a quality outside 1 to 100; Error for an image without pixels or with a
//         side over kMaxJpegSide.
Bytes encode_jpeg(const ImageView& image, int quality);

}  // namespace winnow::pipeline
