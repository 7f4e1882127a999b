#pragma once

#include <functional>
#include <memory>

#include "pipeline/decode/decode.h"
#include "pipeline/decode/encoded.h"
#include "pipeline/decode/rows.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {

// The requested part of a picture as stored.
struct StoredPart {
  int scale = 1;           // 1, 2, 4 or 8
  Box box;                 // in the picture at 1/scale
  bool is_turned = false;  // it will be turned afterwards, into an image of the same size in bytes
};
using ChoosePart = std::function<StoredPart(Size stored)>;  // pure

// Implements decode() for JPEGs; `choose` selects the part. Orientation is not applied.
//
// Errors    libjpeg's warnings about missing pixels become errors; others are recorded in the
//           image. Files of more than settings.max_scans scans are refused before any is decoded.
// Scale     If a scale is requested but the scaled DCT cannot be used, returns the whole picture at
//           full scale.
// Speed     In a file of one scan, rows below the part are not read; columns and rows beside it are
//           only skipped.
Expected<DecodedImage, DecodeError> decode_jpeg(BytesView encoded, const DecodeSettings& settings,
                                                const DecodeHooks& hooks, Image buffer,
                                                const ChoosePart& choose);

// Opens the rows of a JPEG of one scan, to be decoded from the top as bytes are read. nullptr,
// without an error, for several scans: such a file must be decoded as a whole. Errors as
// decode_jpeg().
// orientation  Reported by the result.
Expected<std::unique_ptr<PictureRows>, DecodeError> open_jpeg_rows(const EncodedBytes& encoded,
                                                                   const DecodeSettings& settings,
                                                                   int orientation,
                                                                   const RowLimits& limits);

// Number of scans in a file (ITU T.81, annex B), at most `most`. The end of a scan is found as by
// libjpeg, by the next marker.
int count_scans(BytesView encoded, int most);

}  // namespace winnow::pipeline
