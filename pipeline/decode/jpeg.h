#pragma once

#include <functional>
#include <memory>

#include "pipeline/decode/decode.h"
#include "pipeline/decode/encoded.h"
#include "pipeline/decode/rows.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {

// What is wanted of a picture as it is stored.
struct StoredPart {
  int scale = 1;           // 1, 2, 4 or 8
  Box box;                 // of the picture at 1/scale
  bool is_turned = false;  // afterwards, into an image of as many bytes
};
using ChoosePart = std::function<StoredPart(Size stored)>;  // pure

// decode() of bytes that sniff() takes for a JPEG. A warning of libjpeg's that pixels are
// missing ends it as an error; others are in the image.
// Orientation is not applied. Files of more scans than settings.max_scans are refused before any of
// them is decoded. The part that `choose` asks for; where that is at a scale and libjpeg's scaled
// DCT is not used, the whole picture at full scale. Of rows below the part nothing is read where
// the file has one scan; the columns and rows beside it are then only gone through.
Expected<DecodedImage, DecodeError> decode_jpeg(BytesView encoded, const DecodeSettings& settings,
                                                const DecodeHooks& hooks, Image buffer,
                                                const ChoosePart& choose);

// The rows of a JPEG of one scan, from the top, as its bytes are read; nothing, and no error, for
// one of several scans, which has to be decoded whole. Errors as decode_jpeg().
// orientation   what the rows are told to be turned by
Expected<std::unique_ptr<PictureRows>, DecodeError> open_jpeg_rows(const EncodedBytes& encoded,
                                                                   const DecodeSettings& settings,
                                                                   int orientation,
                                                                   const RowLimits& limits);

// ITU T.81, annex B: the scans of a file, or `most` where it has more. What comes after the pixels
// of one is found as libjpeg finds it, by the next marker.
int count_scans(BytesView encoded, int most);

}  // namespace winnow::pipeline
