#pragma once

#include <cstddef>
#include <cstdint>

#include "train/tensor/tensor.h"

namespace winnow::train {

// Positions of elements in memory, for the float64 reference implementations.

// Layout of data in memory order NHWC. A shape (N,D) stands for (N,D,1,1).
struct ImageLayout {
  std::int64_t n, c, h, w;

  explicit ImageLayout(const Shape& shape)
      : n(shape[0]),
        c(shape[1]),
        h(shape.size() == 4 ? shape[2] : 1),
        w(shape.size() == 4 ? shape[3] : 1) {}
  std::size_t at(std::int64_t in, std::int64_t ic, std::int64_t ih, std::int64_t iw) const {
    return static_cast<std::size_t>(((in * h + ih) * w + iw) * c + ic);
  }
};

// Row of the image that a window of a convolution or pooling reads, by output row p and window row
// r. Also used for columns.
struct WindowRows {
  std::int64_t stride = 1, pad = 0;  // step of the window, and number of zeros before the first row
  std::int64_t dilation = 1;
  std::int64_t at(std::int64_t p, std::int64_t r) const { return p * stride + r * dilation - pad; }
};

}  // namespace winnow::train
