#pragma once

#include <string>

#include "pipeline/decode/decode.h"
#include "pipeline/decode/samples_internal.h"

namespace winnow::pipeline {

// The samples of a PNG, as from cv::imdecode(IMREAD_UNCHANGED): gray; B, G, R; or B, G, R, A if
// there is alpha, unless it is of a single gray value. 8 or 16 bits.
struct PngSamples {
  Samples samples;
  std::string first_warning;
  int warnings = 0;
};

// Decodes a PNG that read_header() accepted, by libpng, because OpenCV prints libpng's warnings
// without the file's name. Text chunks are skipped: a thousand of 8 MB would fit into a file of 8
// MB. Thread-safe; prints nothing.
// Errors  StoppedError; `stop` is asked at every row.
Expected<PngSamples, DecodeError> read_png(BytesView encoded, const StopRequested& stop);

}  // namespace winnow::pipeline
