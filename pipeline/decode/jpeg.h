#pragma once

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// decode() of bytes that sniff() takes for a JPEG. A warning of libjpeg's that pixels are
// missing ends it as an error; others are in the image.
// Progressive files of more than 500 scans are refused: a small file could otherwise cost minutes.
Expected<DecodedImage, DecodeError> decode_jpeg(BytesView encoded, const DecodeOptions& options);

}  // namespace winnow::pipeline
