#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/predict/blend.h"
#include "app/predict/map_file.h"
#include "app/predict/window_options.h"
#include "pipeline/decode/shrink.h"

namespace winnow::app {

// The net's outputs for some windows of a picture that are not one answer yet.
struct GatheredWindows {
  std::uint64_t windows = 0;           // that the net was shown
  std::vector<double> sums{};          // of their probabilities, by class
  std::vector<float> most{};           // by class
  std::vector<float> all{};            // (windows, classes), where the pool asks for the largest
  std::vector<double> features{};      // sums
  std::vector<std::int32_t> places{};  // (windows, 2), where there are maps: top and left
  std::vector<float> of_maps{};        // (windows, classes of the maps)
  friend bool operator==(const GatheredWindows&, const GatheredWindows&) = default;
};

// The net's outputs for a window, and where it begins.
struct SaidOfWindow {
  Extent at{};
  std::span<const float> probabilities;
  std::span<const float> features;
};

// Adds a window. labels: the classes of the maps.
void gather(const WindowOptions& options, std::span<const std::int32_t> labels,
            const SaidOfWindow& said, GatheredWindows& gathered);
// Adds windows that follow. The sums are those of equal calls in equal order, bit for bit.
void append(GatheredWindows& gathered, const GatheredWindows& more);
// Bytes that so many windows take.
std::uint64_t gathered_bytes(const WindowOptions& options, std::size_t labels, std::size_t classes,
                             std::uint64_t windows);

// The one answer of windows, of which there is one at least.
std::vector<float> pooled(const Pool& pool, const GatheredWindows& gathered);
std::vector<float> mean_features(const GatheredWindows& gathered);
// The maps of a picture of this size.
ClassMaps blended(const WindowOptions& options, std::size_t labels, pipeline::Size size,
                  const GatheredWindows& gathered);
// Bytes that blended() takes.
std::uint64_t blended_bytes(const WindowOptions& options, std::size_t labels, pipeline::Size size);

}  // namespace winnow::app
