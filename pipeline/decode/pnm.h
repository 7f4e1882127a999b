#pragma once

#include "pipeline/decode/decode.h"
#include "pipeline/decode/header.h"

namespace winnow::pipeline {

// Decodes a PNM (PBM, PGM or PPM, binary or text) that read_header accepted as `header`. Our own,
// because OpenCV prints when it cannot, and takes the white of files of 9 to 15 bits for nearly
// black. `stop` as in DecodeHooks.
Expected<Image, DecodeError> decode_pnm(BytesView encoded, const Header& header,
                                        const StopRequested& stop);

}  // namespace winnow::pipeline
