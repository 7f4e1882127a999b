#pragma once

#include "pipeline/decode/decode.h"
#include "pipeline/decode/header.h"

namespace winnow::pipeline {

// Decoders for BMP, PNG and WebP files that read_header() accepted as `header`. Palettes become
// colours, and 16 bits become 8. Alpha is composed on a matte (background colour), kept separately
// if the hooks say so, or dropped. Only the first page or frame is decoded.

// Adds an alpha channel to an image, unless it is 255 everywhere.
void keep_unless_opaque(DecodedImage& image, Image alpha, const Header& header);

// Decodes a BMP, by own code.
Expected<DecodedImage, DecodeError> decode_bmp(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const DecodeHooks& hooks);

// Decodes a PNG, by libpng. The result records libpng's warnings.
Expected<DecodedImage, DecodeError> decode_png(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const DecodeHooks& hooks);

// Decodes a WebP, by libwebp.
Expected<DecodedImage, DecodeError> decode_webp(BytesView encoded, const Header& header,
                                                const std::optional<Matte>& matte,
                                                const DecodeHooks& hooks);

}  // namespace winnow::pipeline
