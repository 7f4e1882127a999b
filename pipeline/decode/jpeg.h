#pragma once

#include <functional>
#include <memory>

#include "pipeline/decode/decode.h"
#include "pipeline/decode/encoded.h"
#include "pipeline/decode/rows.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {

// The part of a stored picture to decode.
struct StoredPart {
  int scale = 1;  // scale to decode at: 1, 2, 4 or 8
  Box box;        // box in the picture at 1/scale
  // True if the decoded part will be rotated afterwards, which takes memory for its pixels once
  // more.
  bool is_turned = false;
};
using ChoosePart = std::function<StoredPart(Size stored)>;  // pure

// Decodes a JPEG for decode(), or the part of it that `choose` selects. Orientation is not applied.
//
// Errors    libjpeg's warnings about missing pixels become errors; other warnings are recorded in
//           the image. Files with more than settings.max_scans scans are refused before any is
//           decoded.
// Scale     If a scale is requested but the scaled DCT cannot be used, returns the whole picture at
//           full scale.
// Speed     In a file of one scan, rows below the part are not read; columns and rows beside it are
//           only skipped.
Expected<DecodedImage, DecodeError> decode_jpeg(BytesView encoded, const DecodeSettings& settings,
                                                const DecodeHooks& hooks, Image buffer,
                                                const ChoosePart& choose);

// Opens a JPEG of one scan to decode its rows from the top, while bytes are read. nullptr without
// an error for several scans: such a file must be decoded as a whole. Errors as decode_jpeg().
// orientation  what the result's orientation() returns
Expected<std::unique_ptr<PictureRows>, DecodeError> open_jpeg_rows(const EncodedBytes& encoded,
                                                                   const DecodeSettings& settings,
                                                                   int orientation,
                                                                   const RowLimits& limits);

// Number of scans of a JPEG file (ITU T.81, annex B), at most `most`. The end of a scan is found as
// by libjpeg, by the next marker.
int count_scans(BytesView encoded, int most);

}  // namespace winnow::pipeline
