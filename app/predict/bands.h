#pragma once

#include <cstdint>
#include <vector>

#include "app/predict/inputs.h"
#include "app/predict/net.h"
#include "app/predict/window_options.h"
#include "pipeline/decode/rows.h"

namespace winnow::app {

// Windows of one picture, [begin, end) in their order.
struct WindowRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const WindowRange&, const WindowRange&) = default;
};

// A large picture as its windows' rows, and what they take of a processor: in multiply-adds, so
// that any machine cuts it equally.
struct BandCosts {
  std::uint64_t rows = 1;   // of windows
  std::uint64_t a_row = 1;  // windows in each
  double window = 0;        // the net, of one window
  double picture = 0;       // decoding it from the top to the bottom
  double again = 0;         // what a further band takes, besides
};

// Decoding a pixel of a JPEG takes as long as so many multiply-adds of a net. Measured by
// tests/bench/predict/measure bands.
inline constexpr double kMultiplyAddsAPixel = 400;

// Costs of a picture whose windows the net sees.
BandCosts band_costs(const pipeline::PartsShape& shape, const WindowOptions& options,
                     double window_multiply_adds, std::size_t micro_batch);

// Cuts a picture into bands of whole rows of windows, `least` windows or more in each: as many as
// let all of them together take 1.15 times of what one would take, at most. Pure.
std::vector<WindowRange> cut_into_bands(const BandCosts& costs, std::uint64_t least);

// Multiply-adds of a window, for the net as it is shown pictures.
double multiply_adds_of(const Net& net);

// Bands of an input, from its size and its header. None: it is a task with others, for it is small
// or not read in parts.
std::vector<WindowRange> bands_of(const Inputs& inputs, std::uint64_t at,
                                  const WindowOptions& options, double window_multiply_adds,
                                  std::size_t micro_batch);

}  // namespace winnow::app
