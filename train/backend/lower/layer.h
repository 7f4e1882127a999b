#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "train/backend/lower/kernel_arguments.h"
#include "train/graph/graph.h"
#include "train/ops/conv2d.h"

namespace winnow::train {

// The passes of a layer with a weight: forward computes y, backward data dx, backward filter dw
// (and the bias's db).
enum class Pass : std::uint8_t { kForward, kBackwardData, kBackwardFilter };
// Name of the pass: "forward", "backward-data", "backward-filter".
std::string_view name_of(Pass pass) noexcept;

// Extents (N,C,H,W) of a value; for (N,D), C = D and H = W = 1.
struct ImageExtents {
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  std::int64_t rows() const { return n * h * w; }
};
ImageExtents image_extents(const Shape& shape);
std::string to_string(const ImageExtents& extents);  // text such as "n32 c64 h56 w56"

struct ConvExtents {
  ImageExtents x;
  ImageExtents y;
  std::int64_t r = 1, s = 1;  // height and width of the filter
  ConvAxes axes;
  // Number of channel groups. A filter reads only the channels of its group, so filters are
  // (K,C/groups,R,S).
  std::int64_t groups = 1;
  std::int64_t filter_channels() const { return x.c / groups; }
};
// Returns text such as "n32 c64 h56 w56 k64 r3 s3 p56 q56 stride1 pad1". The end is that of
// to_string(ConvAxes), followed by " groups4" if there are several groups.
std::string to_string(const ConvExtents& extents);

// Returns the name of a layer in KernelChoices: "conv2d forward bf16 n32 c64 ...".
std::string layer_name(std::string_view op, Pass pass, Element type, std::string_view extents);

// The operands of one pass of a layer. The pass writes one of data, weight and result, and reads
// the other two.
struct LayerOperands {
  Pass pass = Pass::kForward;
  ValueId data = -1;    // x, or dx if the pass writes it
  ValueId weight = -1;  // w, or dw if the pass writes it
  ValueId bias = -1;    // bias, or its gradient if the pass writes it; -1: none
  ValueId result = -1;  // y if the pass writes it, otherwise dy
};
LayerOperands layer_operands(const Node& node, Pass pass, bool bias);

// Returns the extents of a convolution. The number of groups follows from the shapes.
ConvExtents conv_extents(const Graph& graph, const LayerOperands& operands,
                         const ConvAttributes& attributes);

}  // namespace winnow::train
