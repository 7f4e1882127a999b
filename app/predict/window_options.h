#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/predict/net.h"

namespace winnow::app {

// How the windows of a picture become one answer: of each class their mean, the most, or the mean
// of the largest share of them.
struct Pool {
  enum class Kind : std::uint8_t { kMean, kMax, kTop };
  Kind kind = Kind::kMean;
  double share = 1;  // of kTop, above 0
};
Pool parse_pool(const std::string& text);  // "mean", "max", "top:0.1" or "top:10%"; UsageError

// Maps of classes over a picture.
struct MapOptions {
  std::vector<std::string> classes{};  // names; none: no maps
  std::int64_t step_px = 0;            // of a point; 0: a quarter of the stride
  bool tiff = false;                   // in place of .npy
  std::optional<double> least{};       // boxes of what reaches this probability; none: no boxes
};

struct WindowOptions {
  int window = 0;        // pixels a side that the net is shown: the net's input
  double overlap = 0.5;  // of neighbours, in [0, 1)
  double scale = 1;      // of the picture: 0.5 looks from farther away
  Pool pool{};
  std::optional<int> skip_flat{};  // windows whose levels lie so close are left out
  MapOptions map{};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // of one picture at a time
};

// The text of all that decides what comes of windows.
std::string text_of(const WindowOptions& options);
// The places of map.classes among the net's. Throws UsageError: one that is not there or is named
// twice, a window that is not the net's input, an overlap or a scale that cannot be.
std::vector<std::int32_t> check_windows(const WindowOptions& options, const Net& net);

// Pixels of a picture that a window spans, from one window to the next, and for a point of a map.
std::int64_t span_of(const WindowOptions& options);
std::int64_t stride_of(const WindowOptions& options);
std::int64_t map_step_of(const WindowOptions& options);

}  // namespace winnow::app
