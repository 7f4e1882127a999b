#pragma once

#include "common/expected.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/header.h"
#include "pipeline/decode/samples_internal.h"

namespace winnow::pipeline {

// Decodes a BMP that read_header() accepted to 8-bit samples: gray; B, G, R; or B, G, R, A if
// `header` has alpha. Thread-safe.
// Supported  Palettes (1, 4, 8 bits, also run-length encoded), masks (16, 32 bits), plain (16, 24,
//            32 bits). Others are unsupported.
// Errors     StoppedError; `stop` is asked at every row.
// Source     Microsoft, "Bitmap Storage".
Expected<Samples, DecodeError> read_bmp(BytesView encoded, const Header& header,
                                        const StopRequested& stop);

}  // namespace winnow::pipeline
