#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/predict/net.h"

namespace winnow::app {

// How the probabilities of a picture's windows are pooled into one, for each class: by the mean,
// the maximum, or the mean of the largest `share`.
struct Pool {
  enum class Kind : std::uint8_t { kMean, kMax, kTop };
  Kind kind = Kind::kMean;
  double share = 1;  // only for kTop: share of the windows, above 0
};
// Parses "mean", "max", "top:0.1" or "top:10%". Throws UsageError.
Pool parse_pool(const std::string& text);

// Options for probability maps of classes over a picture.
struct MapOptions {
  std::vector<std::string> classes{};  // names of the classes; empty: no maps
  // Distance of the map's points in pixels; 0: a quarter of the windows' stride.
  std::int64_t step_px = 0;
  bool tiff = false;              // TIFF instead of .npy files
  std::optional<double> least{};  // probability that a map must reach in a box; nullopt: no boxes
};

struct WindowOptions {
  int window = 0;        // side of the net's input in pixels
  double overlap = 0.5;  // overlap of neighbouring windows, a share in [0, 1)
  double scale = 1;  // factor applied to the picture first: at 0.5 a window shows twice the side
  Pool pool{};
  // Skip windows whose pixel levels span no more than this; nullopt: none.
  std::optional<int> skip_flat{};
  MapOptions map{};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // memory limit for one picture at a time
};

// All options that affect results, as a text to compare.
std::string text_of(const WindowOptions& options);
// Checks the options and returns the label of each class in map.classes. Throws UsageError: an
// unknown class, a class twice, a window that is not the net's input, an impossible overlap or
// scale.
std::vector<std::int32_t> check_windows(const WindowOptions& options, const Net& net);

// Side of a window, distance between windows, and distance of a map's points, in pixels of the
// unscaled picture.
std::int64_t span_of(const WindowOptions& options);
std::int64_t stride_of(const WindowOptions& options);
std::int64_t map_step_of(const WindowOptions& options);

}  // namespace winnow::app
