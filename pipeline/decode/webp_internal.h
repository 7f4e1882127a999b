#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

enum class WebpOrder { kRgb, kBgra };

// Where the samples of a WebP are written, in rows without padding.
struct WebpTarget {
  int height_px;
  int width_px;
  WebpOrder order;
  std::uint8_t* samples;
};

// Decodes a WebP that read_header() accepted, by libwebp, because OpenCV cannot be stopped. Returns
// an error if the image's size is not that of `to`. Thread-safe; prints nothing.
// Errors  StoppedError; `stop` is asked about every two million pixels.
std::optional<DecodeError> read_webp(BytesView encoded, const WebpTarget& to,
                                     const StopRequested& stop);

}  // namespace winnow::pipeline
