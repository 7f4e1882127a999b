#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/predict/blend.h"
#include "app/predict/map_file.h"
#include "app/predict/window_options.h"
#include "pipeline/decode/shrink.h"

namespace winnow::app {

// The net's outputs for several windows of a picture, before they are pooled into one answer.
struct GatheredWindows {
  std::uint64_t windows = 0;           // number of windows that the net saw
  std::vector<double> sums{};          // sums of probabilities, by class
  std::vector<float> most{};           // maxima, by class
  std::vector<float> all{};            // (windows, classes), if the pool needs the largest
  std::vector<double> features{};      // sums
  std::vector<std::int32_t> places{};  // (windows, 2), if there are maps: top and left
  std::vector<float> of_maps{};        // (windows, classes of the maps)
  friend bool operator==(const GatheredWindows&, const GatheredWindows&) = default;
};

// The net's outputs for a window, and where it begins.
struct WindowOutputs {
  Extent at{};
  std::span<const float> probabilities;
  std::span<const float> features;
};

// Adds a window. labels: the classes of the maps.
void gather(const WindowOptions& options, std::span<const std::int32_t> labels,
            const WindowOutputs& said, GatheredWindows& gathered);
// Adds the windows that follow. Equal calls in equal order give the same bits.
void append(GatheredWindows& gathered, const GatheredWindows& more);
// Bytes for a number of windows.
std::uint64_t gathered_bytes(const WindowOptions& options, std::size_t labels, std::size_t classes,
                             std::uint64_t windows);

// The one answer for all windows, of which there is at least one.
std::vector<float> pooled(const Pool& pool, const GatheredWindows& gathered);
std::vector<float> mean_features(const GatheredWindows& gathered);
// The maps of a picture of this size.
ClassMaps blended(const WindowOptions& options, std::size_t labels, pipeline::Size size,
                  const GatheredWindows& gathered);
// Bytes that blended() needs.
std::uint64_t blended_bytes(const WindowOptions& options, std::size_t labels, pipeline::Size size);

}  // namespace winnow::app
