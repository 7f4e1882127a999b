#pragma once

#include "pipeline/decode/decode.h"
#include "pipeline/decode/header.h"

namespace winnow::pipeline {

// Decodes a PNM (PBM, PGM or PPM, binary or text) that read_header() accepted as `header`. `stop`
// as in DecodeHooks. Own code, because OpenCV prints its errors, and decodes white in files of 9 to
// 15 bits as nearly black.
Expected<Image, DecodeError> decode_pnm(BytesView encoded, const Header& header,
                                        const StopRequested& stop);

}  // namespace winnow::pipeline
