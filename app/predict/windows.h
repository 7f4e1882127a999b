#pragma once

#include <cstdint>
#include <vector>

#include "app/predict/blend.h"
#include "common/image.h"
#include "pipeline/decode/shrink.h"

namespace winnow::app {

// How large pictures are gone over by windows of one size.

// Pixels from one window to the next: (1 - overlap) of a window, rounded, 1 at least.
// overlap   in [0, 1).
std::int64_t stride_of(std::int64_t window, double overlap) noexcept;

// Where the windows of an axis begin: every `stride` pixels, the last one shifted inwards so that
// it ends where the axis does. One window, at 0, where the axis is no longer than that.
std::vector<std::int64_t> window_starts(std::int64_t side, std::int64_t window,
                                        std::int64_t stride);

// The windows of a picture, in the order of the rows that it is stored in: by its rows, or by its
// columns where these become rows, from the end where they are mirrored.
class WindowPlaces {
 public:
  // stored       sides of the picture, as it is stored
  // orientation  by which it is to be turned
  // span         of a window, in pixels; of a smaller picture its side
  WindowPlaces(pipeline::Size stored, int orientation, std::int64_t span, std::int64_t stride);

  pipeline::Size turned() const noexcept { return turned_; }
  std::uint64_t count() const noexcept { return down_.size() * across_.size(); }
  // Windows that begin with one stored row, and how many times there are so many.
  std::uint64_t a_row() const noexcept { return by_columns_ ? down_.size() : across_.size(); }
  std::uint64_t rows() const noexcept { return by_columns_ ? across_.size() : down_.size(); }

  // Where a window begins in the turned picture.
  Extent place(std::uint64_t window) const;
  // The part of the stored picture that it is of.
  Box stored_box(std::uint64_t window) const;

 private:
  pipeline::Size stored_;
  int orientation_;
  std::int64_t span_;
  pipeline::Size turned_;
  bool by_columns_;
  std::vector<std::int64_t> down_;
  std::vector<std::int64_t> across_;
};

}  // namespace winnow::app
