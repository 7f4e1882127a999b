#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "train/backend/lower/kernel_arguments.h"
#include "train/graph/graph.h"
#include "train/ops/conv2d.h"

namespace winnow::train {

// A pass of a layer with a weight. It computes y, dx, or dw (and db).
enum class Pass : std::uint8_t { kForward, kBackwardData, kBackwardFilter };
std::string_view name_of(Pass pass) noexcept;  // "forward", "backward-data", "backward-filter"

// Extents (N,C,H,W), with H = W = 1 for (N,D).
struct ImageExtents {
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  std::int64_t rows() const { return n * h * w; }
};
ImageExtents image_extents(const Shape& shape);
std::string to_string(const ImageExtents& extents);  // "n32 c64 h56 w56"

struct ConvExtents {
  ImageExtents x;
  ImageExtents y;
  std::int64_t r = 1, s = 1;  // height and width of the filter
  ConvAxes axes;
  // Filter k reads only the channels of its group: filters are (K,C/groups,R,S).
  std::int64_t groups = 1;
  std::int64_t filter_channels() const { return x.c / groups; }
};
// Text such as "n32 c64 h56 w56 k64 r3 s3 p56 q56 stride1 pad1". The end is that of
// to_string(ConvAxes), followed by " groups4" if there are several groups.
std::string to_string(const ConvExtents& extents);

// Identifies a layer in KernelChoices: "conv2d forward bf16 n32 c64 ...".
std::string layer_name(std::string_view op, Pass pass, Element type, std::string_view extents);

// The values of one pass of a layer: it writes one of data, weight and result, and reads the
// others. bias is -1 if there is none.
struct LayerOperands {
  Pass pass = Pass::kForward;
  ValueId data = -1;    // x or dx
  ValueId weight = -1;  // w or dw
  ValueId bias = -1;    // b or db
  ValueId result = -1;  // y or dy
};
LayerOperands layer_operands(const Node& node, Pass pass, bool bias);

// The number of groups follows from the shapes.
ConvExtents conv_extents(const Graph& graph, const LayerOperands& operands,
                         const ConvAttributes& attributes);

}  // namespace winnow::train
