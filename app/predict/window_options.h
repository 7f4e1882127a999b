#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/predict/net.h"

namespace winnow::app {

// How the windows of a picture are pooled into one answer, for each class: mean, maximum, or the
// mean of the largest share.
struct Pool {
  enum class Kind : std::uint8_t { kMean, kMax, kTop };
  Kind kind = Kind::kMean;
  double share = 1;  // for kTop, above 0
};
// "mean", "max", "top:0.1" or "top:10%"; throws UsageError
Pool parse_pool(const std::string& text);

// Maps of classes over a picture.
struct MapOptions {
  std::vector<std::string> classes{};  // names; empty: no maps
  std::int64_t step_px = 0;            // pixels per point; 0: a quarter of the stride
  bool tiff = false;                   // instead of .npy
  std::optional<double> least{};  // boxes where a map reaches this probability; nullopt: no boxes
};

struct WindowOptions {
  int window = 0;        // side that the net sees, in pixels: the net's input
  double overlap = 0.5;  // overlap of neighbours, in [0, 1)
  double scale = 1;      // applied to the picture: 0.5 looks from farther away
  Pool pool{};
  std::optional<int> skip_flat{};  // skip windows whose levels span no more than this
  MapOptions map{};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // limit for one picture at a time
};

// A text of all options that affect the results of windows.
std::string text_of(const WindowOptions& options);
// The places of map.classes among the net's. Throws UsageError: an unknown class, a class twice, a
// window that is not the net's input, an impossible overlap or scale.
std::vector<std::int32_t> check_windows(const WindowOptions& options, const Net& net);

// Pixels of a picture that a window spans, between windows, and per point of a map.
std::int64_t span_of(const WindowOptions& options);
std::int64_t stride_of(const WindowOptions& options);
std::int64_t map_step_of(const WindowOptions& options);

}  // namespace winnow::app
