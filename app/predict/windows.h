#pragma once

#include <cstdint>
#include <vector>

#include "app/predict/blend.h"
#include "common/image.h"
#include "pipeline/decode/shrink.h"

namespace winnow::app {

// How large pictures are covered by overlapping windows of one size.

// Distance between windows in pixels: (1 - overlap) * window, rounded, at least 1. `overlap` is in
// [0, 1).
std::int64_t stride_of(std::int64_t window, double overlap) noexcept;

// Where windows begin along an axis: every `stride` pixels; the last one is shifted inwards to end
// at the axis' end. One window at 0 if the axis is no longer than a window.
std::vector<std::int64_t> window_starts(std::int64_t side, std::int64_t window,
                                        std::int64_t stride);

// The windows of a picture, in the order in which its stored rows are decoded. If the EXIF
// orientation swaps rows and columns, windows are ordered by columns of the rotated picture; if it
// mirrors them, from the end.
class WindowPlaces {
 public:
  // stored       size of the picture as stored
  // orientation  EXIF orientation to apply
  // span         side of a window in pixels; in a smaller picture, the picture's side
  WindowPlaces(pipeline::Size stored, int orientation, std::int64_t span, std::int64_t stride);

  pipeline::Size turned() const noexcept { return turned_; }
  std::uint64_t count() const noexcept { return down_.size() * across_.size(); }
  // Number of windows that begin at the same stored row, and number of such rows.
  std::uint64_t a_row() const noexcept { return by_columns_ ? down_.size() : across_.size(); }
  std::uint64_t rows() const noexcept { return by_columns_ ? across_.size() : down_.size(); }

  // Where a window begins in the rotated picture.
  Extent place(std::uint64_t window) const;
  // The part of the stored picture that a window shows.
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
