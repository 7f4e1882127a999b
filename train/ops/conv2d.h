#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Two-dimensional convolution (as a cross-correlation) with zero padding.
// Letters below: N samples, C input channels, K filters, H W input image, P Q output image, R S
// filter; [x] is optional.

// Movement of the window along one axis: output p reads the elements p*stride + r*dilation -
// before, for filter elements r = 0, 1, ...
struct ConvAxis {
  int stride = 1;
  int before = 0, after = 0;  // number of zeros added before and after the data
  int dilation = 1;           // distance between neighbouring elements that a window reads
  bool operator==(const ConvAxis&) const = default;
};
// Distance from the first to the last element that a window of `kernel` elements reads, both
// included.
constexpr std::int64_t span_of(std::int64_t kernel, const ConvAxis& axis) {
  return (kernel - 1) * axis.dilation + 1;
}
struct ConvAxes {
  ConvAxis rows;     // movement along the height
  ConvAxis columns;  // movement along the width
};
// Returns equal axes for rows and columns, with `pad` zeros on all sides.
constexpr ConvAxes both_axes(int stride, int pad, int dilation = 1) noexcept {
  return {{stride, pad, pad, dilation}, {stride, pad, pad, dilation}};
}
// Returns text such as " stride=2 pad=1" (for `equals` "=").
// - Axes that differ: height, then width: " stride=2x1 pad=1x0".
// - Paddings that differ between sides: top, bottom, left, right: " pad=0,1,2,2".
// - " dilation=2" is added unless the dilation is 1.
std::string to_string(const ConvAxes& axes, std::string_view equals);

struct ConvAttributes {
  ConvAxes axes;
  bool bias = false;
  Shape data_shape;    // for kConv2dBackwardData: shape of dx
  Shape filter_shape;  // for kConv2dBackwardFilter: shape of dw
};

// In the operations below, w may be (K,C), which stands for (K,C,1,1): a linear layer at each
// pixel.
extern const Operation kConv2d;                // inputs x, w (K,C,R,S), [b (K)] -> y (N,K,P,Q)
extern const Operation kConv2dBackwardData;    // dy, w -> dx
extern const Operation kConv2dBackwardFilter;  // x, dy -> dw, and db if ConvAttributes::bias

}  // namespace winnow::train
