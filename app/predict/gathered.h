#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/predict/blend.h"
#include "app/predict/map_file.h"
#include "app/predict/window_options.h"
#include "pipeline/decode/shrink.h"

namespace winnow::app {

// The net's outputs for the windows of a picture so far, before they are pooled into one
// prediction.
struct GatheredWindows {
  std::uint64_t windows = 0;   // number of windows that the net has predicted
  std::vector<double> sums{};  // sums of probabilities over windows, by class
  std::vector<float> most{};   // maxima of probabilities over windows, by class
  // Probabilities: (windows, classes), only if the pooling needs the largest ones.
  std::vector<float> all{};
  std::vector<double> features{};  // sums of feature vectors over windows
  // Top and left of each window: (windows, 2), only if maps are made.
  std::vector<std::int32_t> places{};
  std::vector<float> of_maps{};  // probabilities: (windows, classes with maps)
  friend bool operator==(const GatheredWindows&, const GatheredWindows&) = default;
};

// The net's outputs for one window, and where the window begins.
struct WindowOutputs {
  Extent at{};
  std::span<const float> probabilities;
  std::span<const float> features;
};

// Adds the net's outputs for one window of a picture. `labels`: the classes for which maps are
// made.
void gather(const WindowOptions& options, std::span<const std::int32_t> labels,
            const WindowOutputs& said, GatheredWindows& gathered);
// Appends the outputs for the windows that follow. Equal calls in equal order give the same bits.
void append(GatheredWindows& gathered, const GatheredWindows& more);
// Memory in bytes that the outputs for this many windows need.
std::uint64_t gathered_bytes(const WindowOptions& options, std::size_t labels, std::size_t classes,
                             std::uint64_t windows);

// The picture's probabilities, or features, pooled over its windows, of which there is at least
// one.
std::vector<float> pooled(const Pool& pool, const GatheredWindows& gathered);
std::vector<float> mean_features(const GatheredWindows& gathered);
// The probability maps of a picture of this size, blended from overlapping windows.
ClassMaps blended(const WindowOptions& options, std::size_t labels, pipeline::Size size,
                  const GatheredWindows& gathered);
// Memory in bytes that blending the maps of a picture of this size needs.
std::uint64_t blended_bytes(const WindowOptions& options, std::size_t labels, pipeline::Size size);

}  // namespace winnow::app
