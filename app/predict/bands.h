#pragma once

#include <cstdint>
#include <vector>

#include "app/predict/inputs.h"
#include "app/predict/net.h"
#include "app/predict/window_options.h"
#include "pipeline/decode/rows.h"

namespace winnow::app {

// A range [begin, end) of a picture's windows, by their numbers.
struct WindowRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const WindowRange&, const WindowRange&) = default;
};

// Costs of predicting a large picture in windows, in multiply-adds of a CPU rather than seconds, so
// that every machine splits the picture in the same way.
struct BandCosts {
  std::uint64_t rows = 1;   // number of rows of windows
  std::uint64_t a_row = 1;  // number of windows per row
  double window = 0;        // cost of the net for one window
  double picture = 0;       // cost of decoding the whole picture
  // Extra cost of splitting off one more band: rows decoded again, half-empty batches.
  double again = 0;
};

// Number of a net's multiply-adds that take as long as decoding one pixel of a JPEG. Measured by
// tests/bench/predict/measure bands.
inline constexpr double kMultiplyAddsAPixel = 400;

// Costs of predicting a picture in windows.
BandCosts band_costs(const pipeline::PartsShape& shape, const WindowOptions& options,
                     double window_multiply_adds, std::size_t micro_batch);

// Splits a picture into bands, which are whole rows of windows, each band with at least `least`
// windows. As many bands as cost at most 1.08 times the unsplit picture. Pure.
std::vector<WindowRange> cut_into_bands(const BandCosts& costs, std::uint64_t least);

// Multiply-adds of the net for one window, including all views of test-time augmentation.
double multiply_adds_of(const Net& net);

// The bands of an input, from its size and its file's header. Empty: the input is small or cannot
// be decoded in parts, so that it shares a task with other inputs.
std::vector<WindowRange> bands_of(const Inputs& inputs, std::uint64_t at,
                                  const WindowOptions& options, double window_multiply_adds,
                                  std::size_t micro_batch);

}  // namespace winnow::app
