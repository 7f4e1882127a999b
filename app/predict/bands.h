#pragma once

#include <cstdint>
#include <vector>

#include "app/predict/inputs.h"
#include "app/predict/net.h"
#include "app/predict/window_options.h"
#include "pipeline/decode/rows.h"

namespace winnow::app {

// Windows [begin, end) of one picture, in their order.
struct WindowRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const WindowRange&, const WindowRange&) = default;
};

// A large picture as rows of windows, with CPU costs in multiply-adds, so that any machine cuts it
// equally.
struct BandCosts {
  std::uint64_t rows = 1;   // rows of windows
  std::uint64_t a_row = 1;  // windows per row
  double window = 0;        // cost of the net for one window
  double picture = 0;       // cost of decoding from top to bottom
  double again = 0;         // extra cost of one more band
};

// Multiply-adds of a net that take as long as decoding one pixel of a JPEG. Measured by
// tests/bench/predict/measure bands.
inline constexpr double kMultiplyAddsAPixel = 400;

// Costs of a picture that the net sees in windows.
BandCosts band_costs(const pipeline::PartsShape& shape, const WindowOptions& options,
                     double window_multiply_adds, std::size_t micro_batch);

// Cuts a picture into bands of whole rows of windows, each with at least `least` windows. Takes as
// many bands as cost at most 1.08 times the unsplit picture. Pure.
std::vector<WindowRange> cut_into_bands(const BandCosts& costs, std::uint64_t least);

// Multiply-adds of a window, including all views of the net.
double multiply_adds_of(const Net& net);

// Bands of an input, from its size and header. Empty: it shares a task with others, because it is
// small or cannot be read in parts.
std::vector<WindowRange> bands_of(const Inputs& inputs, std::uint64_t at,
                                  const WindowOptions& options, double window_multiply_adds,
                                  std::size_t micro_batch);

}  // namespace winnow::app
