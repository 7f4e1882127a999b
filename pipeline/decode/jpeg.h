#pragma once

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// decode() of bytes that sniff() takes for a JPEG. A warning of libjpeg's that pixels are
// missing ends it as an error; others are in the image.
// Orientation is not applied. Files of more scans than settings.max_scans are refused before any of
// them is decoded. With a scale, the whole picture where libjpeg's scaled DCT is not used.
Expected<DecodedImage, DecodeError> decode_jpeg(BytesView encoded, const DecodeSettings& settings,
                                                const BeforeAllocation& before_allocation,
                                                Image buffer, int scale = 1);

}  // namespace winnow::pipeline
