#pragma once

#include <opencv2/core/mat.hpp>
#include <string>

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// Samples of a PNG as cv::imdecode(IMREAD_UNCHANGED) has them: gray; B, G, R; or B, G, R, A, where
// there is alpha that is not of gray alone; of 8 or 16 bits.
struct PngSamples {
  cv::Mat samples;
  std::string first_warning;
  int warnings = 0;
};

// By libpng itself, since OpenCV lets it print what it warns of, without a name. What read_header
// accepted. Texts are passed over: a thousand of 8 MB would fit a file of 8 MB. Throws StoppedError
// where `stop`, which is asked at every row, says so. Safe from many threads; prints nothing.
Expected<PngSamples, DecodeError> read_png(BytesView encoded, const StopRequested& stop);

}  // namespace winnow::pipeline
