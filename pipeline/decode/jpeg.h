#pragma once

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// decode() of bytes that sniff() takes for a JPEG. Any warning of libjpeg's ends it as an error.
// Progressive files of more than 500 scans are refused: a small file could otherwise cost minutes.
Expected<Image, DecodeError> decode_jpeg(BytesView encoded, const DecodeOptions& options);

}  // namespace winnow::pipeline
