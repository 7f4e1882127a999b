#pragma once

#include "pipeline/decode/header.h"

namespace winnow::pipeline {

// The header of a TIFF, from its first directory, as libtiff reads it, and that all strips or tiles
// are there. An error where libtiff might read another: where a tag that matters to size or memory
// is there twice, is not a SHORT or a LONG, or not a single one where one is due. Compressions
// whose data says of its own size what it likes are not supported: libjbig ends the process where
// it gets no memory. Nor are samples of more than 16 bits, and more than 65,536 strips or tiles.
Expected<Header, DecodeError> tiff_header(BytesView encoded);

}  // namespace winnow::pipeline
