#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Two-dimensional convolution (a cross-correlation) with zero padding.
// N batch, C K channels, H W image, P Q output image, R S kernel. [x]: optional.

// How the window moves along one axis: output p reads the elements p*stride + r*dilation - before.
struct ConvAxis {
  int stride = 1;
  int before = 0, after = 0;  // zeros added at both ends of the data
  int dilation = 1;           // distance between two elements that a window reads
  bool operator==(const ConvAxis&) const = default;
};
// Number of elements that a window of `kernel` elements spans.
constexpr std::int64_t span_of(std::int64_t kernel, const ConvAxis& axis) {
  return (kernel - 1) * axis.dilation + 1;
}
struct ConvAxes {
  ConvAxis rows;     // along the height
  ConvAxis columns;  // along the width
};
// Equal axes for rows and columns, with `pad` zeros on all sides.
constexpr ConvAxes both_axes(int stride, int pad, int dilation = 1) noexcept {
  return {{stride, pad, pad, dilation}, {stride, pad, pad, dilation}};
}
// " stride=2 pad=1" if `equals` is "=".
// If the axes differ, height before width: " stride=2x1 pad=1x0".
// If the sides differ, top, bottom, left, right: " pad=0,1,2,2".
// " dilation=2" is added unless it is 1.
std::string to_string(const ConvAxes& axes, std::string_view equals);

struct ConvAttributes {
  ConvAxes axes;
  bool bias = false;
  Shape data_shape;    // shape of dx, for kConv2dBackwardData
  Shape filter_shape;  // shape of dw, for kConv2dBackwardFilter
};

// w may be (K,C), which stands for (K,C,1,1): a linear layer at each pixel.
extern const Operation kConv2d;                // x, w (K,C,R,S), [b (K)] -> y (N,K,P,Q)
extern const Operation kConv2dBackwardData;    // dy, w -> dx
extern const Operation kConv2dBackwardFilter;  // x, dy -> dw, [db], with ConvAttributes::bias

}  // namespace winnow::train
