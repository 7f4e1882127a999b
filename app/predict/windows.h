#pragma once

#include <cstdint>
#include <vector>

namespace winnow::app {

// How large pictures are gone over by windows of one size.

// Pixels from one window to the next: (1 - overlap) of a window, rounded, 1 at least.
// overlap   in [0, 1).
std::int64_t stride_of(std::int64_t window, double overlap) noexcept;

// Where the windows of an axis begin: every `stride` pixels, the last one shifted inwards so that
// it ends where the axis does. One window, at 0, where the axis is no longer than that.
std::vector<std::int64_t> window_starts(std::int64_t side, std::int64_t window,
                                        std::int64_t stride);

}  // namespace winnow::app
