#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pipeline/decode/encoded.h"
#include "pipeline/decode/header.h"
#include "pipeline/decode/rows.h"

namespace winnow::pipeline {

// The header of a TIFF, from its first directory, as libtiff reads it, and that all strips or tiles
// are there. An error where libtiff might read another: where a tag that matters to size or memory
// is there twice, is not a SHORT or a LONG, or not a single one where one is due. Compressions
// whose data says of its own size what it likes are not supported: libjbig ends the process where
// it gets no memory. Nor are samples of more than 16 bits, more than 65,536 strips or tiles, and
// what would take long between two questions whether to stop: sides of more than 2^20 pixels, and
// more than 2^25 pixels that libtiff decodes at once.
//
// most_blocks  strips or tiles, of more the file is not supported
Expected<Header, DecodeError> tiff_header(const EncodedBytes& encoded,
                                          std::uint64_t most_blocks = 65'536);

// Decodes what tiff_header accepted as `header`, by libtiff, a few rows at a time, between which
// hooks.stop is asked. Throws StoppedError where that says so. An error where libtiff cannot decode
// a strip or tile to its end, or says that it went on without a part of it; what else it says of
// pixels is the picture's warning. Alpha is dropped without a matte, or kept beside the pixels
// where the hooks say so; that of gray of 16 bits is always dropped. The picture is turned as its
// orientation says. Safe from many threads; prints nothing.
Expected<DecodedImage, DecodeError> decode_tiff(BytesView encoded, const Header& header,
                                                const std::optional<Matte>& matte,
                                                const DecodeHooks& hooks);

// The same pixels row by row, not yet turned, a strip, some rows of it or a row of tiles at a time.
// kTooLarge where these, and what libtiff works with, would take more than the limit.
Expected<std::unique_ptr<PictureRows>, DecodeError> open_tiff_rows(
    const EncodedBytes& encoded, const Header& header, const std::optional<Matte>& matte,
    const RowLimits& limits);

}  // namespace winnow::pipeline
