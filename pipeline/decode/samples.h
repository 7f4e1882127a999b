#pragma once

#include "pipeline/decode/decode.h"
#include "pipeline/decode/header.h"

namespace winnow::pipeline {

// All decode what read_header accepted as `header`. Palettes become colours, 16 bits become 8,
// alpha is dropped without a matte; the first page or frame where there are several.

// BMP, by our own reader. `stop` as in DecodeHooks.
Expected<DecodedImage, DecodeError> decode_bmp(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const StopRequested& stop);

// By libpng; what that warns of is in the image. `stop` as in DecodeHooks.
Expected<DecodedImage, DecodeError> decode_png(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const StopRequested& stop);

// By libwebp. `stop` as in DecodeHooks.
Expected<DecodedImage, DecodeError> decode_webp(BytesView encoded, const Header& header,
                                                const std::optional<Matte>& matte,
                                                const StopRequested& stop);

}  // namespace winnow::pipeline
