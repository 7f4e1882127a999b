#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

enum class WebpOrder { kRgb, kBgra };

// Where the samples of a WebP go, row upon row without gaps.
struct WebpTarget {
  int height_px;
  int width_px;
  WebpOrder order;
  std::uint8_t* samples;
};

// By libwebp itself, since OpenCV is not to be stopped before it ends. What read_header accepted.
// An error where the size is another. Asks `stop` about once for each two million pixels, and
// throws StoppedError where it says so. Safe from many threads; prints nothing.
std::optional<DecodeError> read_webp(BytesView encoded, const WebpTarget& to,
                                     const StopRequested& stop);

}  // namespace winnow::pipeline
