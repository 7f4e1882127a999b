#pragma once

#include <cstdint>

namespace winnow::app {

// Where a map reaches a probability: the bounding box of points that hang together, in pixels of
// the picture.
struct FoundBox {
  std::int32_t label = 0;
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  float most = 0;  // of the map in it
  float mean = 0;  // of the points that hang together
  friend bool operator==(const FoundBox&, const FoundBox&) = default;
};

}  // namespace winnow::app
