#pragma once

#include "pipeline/decode/decode.h"
#include "pipeline/decode/header.h"

namespace winnow::pipeline {

// Decoders for files that read_header() accepted as `header`. Palettes become colours and 16 bits
// become 8. Alpha is composed with a matte, kept separately if the hooks say so, or dropped. Of
// several pages or frames, the first.

// Attaches an alpha channel, unless it is 255 everywhere.
void keep_unless_opaque(DecodedImage& image, Image alpha, const Header& header);

// BMP, by own code.
Expected<DecodedImage, DecodeError> decode_bmp(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const DecodeHooks& hooks);

// PNG, by libpng; the result records its warnings.
Expected<DecodedImage, DecodeError> decode_png(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const DecodeHooks& hooks);

// WebP, by libwebp.
Expected<DecodedImage, DecodeError> decode_webp(BytesView encoded, const Header& header,
                                                const std::optional<Matte>& matte,
                                                const DecodeHooks& hooks);

}  // namespace winnow::pipeline
