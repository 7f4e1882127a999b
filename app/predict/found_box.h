#pragma once

#include <cstdint>

namespace winnow::app {

// A detected object: bounding box, in pixels of the picture, of connected points of a class's map
// that reach a probability.
struct FoundBox {
  std::int32_t label = 0;
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  float most = 0;  // highest probability of the map in the box
  float mean = 0;  // mean probability over the connected points
  friend bool operator==(const FoundBox&, const FoundBox&) = default;
};

}  // namespace winnow::app
