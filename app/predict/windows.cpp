#include "app/predict/windows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/decode/orientation.h"

namespace winnow::app {

std::int64_t stride_of(std::int64_t window, double overlap) noexcept {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(window) * (1 - overlap)));
}

std::vector<std::int64_t> window_starts(std::int64_t side, std::int64_t window,
                                        std::int64_t stride) {
  const std::int64_t last = std::max<std::int64_t>(0, side - window);
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at < last; at += stride) starts.push_back(at);
  starts.push_back(last);
  return starts;
}

WindowPlaces::WindowPlaces(pipeline::Size stored, int orientation, std::int64_t span,
                           std::int64_t stride)
    : stored_(stored),
      orientation_(orientation),
      span_(span),
      turned_(stored),
      by_columns_(pipeline::swaps_sides(orientation)) {
  if (by_columns_) std::swap(turned_.height_px, turned_.width_px);
  down_ = window_starts(turned_.height_px, span, stride);
  across_ = window_starts(turned_.width_px, span, stride);
  std::vector<std::int64_t>& outer = by_columns_ ? across_ : down_;
  if (stored_box(0).top > stored_box(count() - 1).top) std::ranges::reverse(outer);
}

Extent WindowPlaces::place(std::uint64_t window) const {
  if (by_columns_) return {0, down_[window % down_.size()], across_[window / down_.size()]};
  return {0, down_[window / across_.size()], across_[window % across_.size()]};
}

Box WindowPlaces::stored_box(std::uint64_t window) const {
  const Extent at = place(window);
  const Box seen{static_cast<int>(at[1]), static_cast<int>(at[2]),
                 static_cast<int>(std::min(span_, turned_.height_px - at[1])),
                 static_cast<int>(std::min(span_, turned_.width_px - at[2]))};
  return pipeline::before_turn(seen, orientation_, stored_.height_px, stored_.width_px);
}

}  // namespace winnow::app
