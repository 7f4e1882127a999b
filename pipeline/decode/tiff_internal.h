#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pipeline/decode/encoded.h"
#include "pipeline/decode/header.h"
#include "pipeline/decode/rows.h"

namespace winnow::pipeline {

// Reads the header of a TIFF from its first directory, as libtiff does. Checks that all strips or
// tiles exist.
//
// Errors       libtiff might read the file differently: a tag that affects size or memory occurs
//              twice, is not SHORT or LONG, or has several values instead of one.
// Unsupported  Compressions whose data can claim any size (libjbig exits the process when out of
//              memory). Samples of more than 16 bits. More than `most_blocks` strips or tiles.
//              Anything slow between two checks for a request to stop: sides of more than 2^20
//              pixels, and more than 2^25 pixels that libtiff decodes at once.
Expected<Header, DecodeError> tiff_header(const EncodedBytes& encoded,
                                          std::uint64_t most_blocks = 65'536);

// Decodes a TIFF that tiff_header() accepted as `header`, by libtiff, a few rows at a time.
// Thread-safe; prints nothing.
//
// Alpha        As for the other decoders (samples.h); that of 16-bit gray is always dropped.
// Orientation  The TIFF's orientation tag is applied.
// Errors       libtiff cannot decode a strip or tile completely, or reports that it continued
//              without a part of it. Its other messages about pixels become the picture's warning.
// Stop         hooks.stop is asked every few rows; StoppedError.
Expected<DecodedImage, DecodeError> decode_tiff(BytesView encoded, const Header& header,
                                                const std::optional<Matte>& matte,
                                                const DecodeHooks& hooks);

// Opens a TIFF to read the pixels of decode_tiff() by rows, before the orientation is applied: a
// strip, some rows of it, or a row of tiles at a time. kTooLarge if these, with libtiff's working
// memory, exceed the limit.
Expected<std::unique_ptr<PictureRows>, DecodeError> open_tiff_rows(
    const EncodedBytes& encoded, const Header& header, const std::optional<Matte>& matte,
    const RowLimits& limits);

}  // namespace winnow::pipeline
