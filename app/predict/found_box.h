#pragma once

#include <cstdint>

namespace winnow::app {

// The bounding box of connected points whose map reaches a probability, in pixels of the picture.
struct FoundBox {
  std::int32_t label = 0;
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  float most = 0;  // maximum of the map in it
  float mean = 0;  // mean over the connected points
  friend bool operator==(const FoundBox&, const FoundBox&) = default;
};

}  // namespace winnow::app
