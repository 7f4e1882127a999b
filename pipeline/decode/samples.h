#pragma once

#include "pipeline/decode/decode.h"
#include "pipeline/decode/header.h"

namespace winnow::pipeline {

// All decode what read_header accepted as `header`. Palettes become colours, 16 bits become 8,
// alpha is dropped without a matte, or kept beside the pixels where the hooks say so; the first
// page or frame where there are several.

// Gives a picture its alpha, of one channel, unless all of it is 255.
void keep_unless_opaque(DecodedImage& image, Image alpha, const Header& header);

// BMP, by our own reader.
Expected<DecodedImage, DecodeError> decode_bmp(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const DecodeHooks& hooks);

// By libpng; what that warns of is in the image.
Expected<DecodedImage, DecodeError> decode_png(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const DecodeHooks& hooks);

// By libwebp.
Expected<DecodedImage, DecodeError> decode_webp(BytesView encoded, const Header& header,
                                                const std::optional<Matte>& matte,
                                                const DecodeHooks& hooks);

}  // namespace winnow::pipeline
