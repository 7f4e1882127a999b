#include <algorithm>
#include <cstring>

#include "train/backend/onednn/unfold_internal.h"

namespace winnow::train::onednn {
namespace {

using Index = std::int64_t;

// One row of a window: `s` pixels along the width, from `left` on.
void copy_row(const ConvExtents& e, const std::byte* row, Index left, std::size_t pixel,
              std::byte* to) {
  const Index step = e.axes.columns.dilation;
  if (step == 1) {  // zeros, a run of pixels, zeros
    const Index first = std::clamp<Index>(-left, 0, e.s);
    const Index last = std::clamp<Index>(e.x.w - left, first, e.s);
    const auto bytes = [&](Index pixels) { return static_cast<std::size_t>(pixels) * pixel; };
    std::memset(to, 0, bytes(first));
    if (last > first) {
      std::memcpy(to + bytes(first), row + bytes(left + first), bytes(last - first));
    }
    std::memset(to + bytes(last), 0, bytes(e.s - last));
    return;
  }
  for (Index s = 0; s < e.s; ++s, to += pixel) {
    const Index column = left + s * step;
    if (column < 0 || column >= e.x.w) {
      std::memset(to, 0, pixel);
    } else {
      std::memcpy(to, row + static_cast<std::size_t>(column) * pixel, pixel);
    }
  }
}

// All windows of row `p` of the result of image `n`.
void unfold_row(const Unfold& a, Index n, Index p) {
  const ConvExtents& e = a.extents;
  const std::size_t pixel = bytes_of(a.type) * static_cast<std::size_t>(e.x.c);
  const std::size_t image_row = pixel * static_cast<std::size_t>(e.x.w);
  const std::size_t window_row = pixel * static_cast<std::size_t>(e.s);
  const auto* image =
      static_cast<const std::byte*>(a.x) + static_cast<std::size_t>(n * e.x.h) * image_row;
  auto* to = static_cast<std::byte*>(a.patches) +
             static_cast<std::size_t>((n * e.y.h + p) * e.y.w * e.r) * window_row;
  const auto& [rows, columns] = e.axes;
  for (Index q = 0; q < e.y.w; ++q) {
    for (Index r = 0; r < e.r; ++r, to += window_row) {
      const Index row = p * rows.stride + r * rows.dilation - rows.before;
      if (row < 0 || row >= e.x.h) {
        std::memset(to, 0, window_row);
      } else {
        copy_row(e, image + static_cast<std::size_t>(row) * image_row,
                 q * columns.stride - columns.before, pixel, to);
      }
    }
  }
}

}  // namespace

void unfold(const Unfold& a, int threads) {
  const Index rows = a.extents.y.n * a.extents.y.h;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index row = 0; row < rows; ++row) {
    unfold_row(a, row / a.extents.y.h, row % a.extents.y.h);
  }
}

bool is_unfolded(const ConvExtents& e) noexcept {
  const auto is_plain = [](const ConvAxis& axis) {
    return axis.stride == 1 && axis.before == 0 && axis.after == 0;
  };
  return e.r == 1 && e.s == 1 && is_plain(e.axes.rows) && is_plain(e.axes.columns);
}

std::size_t patches_bytes(const ConvExtents& e, Element type) noexcept {
  return static_cast<std::size_t>(e.y.rows() * e.r * e.s * e.x.c) * bytes_of(type);
}

}  // namespace winnow::train::onednn
