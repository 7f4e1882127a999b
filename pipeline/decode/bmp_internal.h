#pragma once

#include <opencv2/core/mat.hpp>

#include "common/expected.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/header.h"

namespace winnow::pipeline {

// Samples of 8 bits of a BMP that read_header accepted: gray; B, G, R; or B, G, R, A where
// `header` has alpha. With a palette (1, 4, 8 bits, run-length encoded or not), with masks (16, 32
// bits) or plain (16, 24, 32 bits); other kinds are unsupported. Follows Microsoft's "Bitmap
// Storage". Throws StoppedError where `stop`, which is asked at every row, says so. Safe from many
// threads.
Expected<cv::Mat, DecodeError> read_bmp(BytesView encoded, const Header& header,
                                        const StopRequested& stop);

}  // namespace winnow::pipeline
