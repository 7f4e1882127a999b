#include "train/backend/lower/layer.h"

#include "train/ops/conv2d.h"

namespace winnow::train {

std::string_view name_of(Pass pass) noexcept {
  switch (pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kBackwardData:
      return "backward-data";
    case Pass::kBackwardFilter:
      return "backward-filter";
  }
  return "?";
}

ImageExtents image_extents(const Shape& shape) {
  ImageExtents extents;
  extents.n = shape.at(0);
  extents.c = shape.at(1);
  if (shape.size() == 4) {
    extents.h = shape[2];
    extents.w = shape[3];
  }
  return extents;
}

std::string to_string(const ImageExtents& e) {
  return "n" + std::to_string(e.n) + " c" + std::to_string(e.c) + " h" + std::to_string(e.h) +
         " w" + std::to_string(e.w);
}

std::string to_string(const ConvExtents& e) {
  std::string text = to_string(e.x);
  const auto add = [&](const char* name, std::int64_t value) {
    text += std::string(" ") + name + std::to_string(value);
  };
  add("k", e.y.c);
  add("r", e.r);
  add("s", e.s);
  add("p", e.y.h);
  add("q", e.y.w);
  text += to_string(e.axes, "");
  if (e.groups > 1) add("groups", e.groups);
  return text;
}

std::string layer_name(std::string_view op, Pass pass, Element type, std::string_view extents) {
  std::string text(op);
  text += " " + std::string(name_of(pass)) + " " + std::string(name_of(type)) + " ";
  text += extents;
  return text;
}

LayerOperands layer_operands(const Node& node, Pass pass, bool bias) {
  const auto& in = node.inputs;
  const auto& out = node.outputs;
  switch (pass) {
    case Pass::kForward:
      return {pass, in[0], in[1], bias ? in.back() : -1, out[0]};
    case Pass::kBackwardData:
      return {pass, out[0], in[1], -1, in[0]};
    case Pass::kBackwardFilter:
      return {pass, in[0], out[0], bias ? out[1] : -1, in[1]};
  }
  throw Error("'" + node.name + "' is in no pass");
}

ConvExtents conv_extents(const Graph& graph, const LayerOperands& operands,
                         const ConvAttributes& attributes) {
  const Shape& filter = graph.value(operands.weight).shape;
  ConvExtents extents;
  extents.x = image_extents(graph.value(operands.data).shape);
  extents.y = image_extents(graph.value(operands.result).shape);
  extents.r = filter.size() == 2 ? 1 : filter.at(2);  // (K,C) stands for a filter (K,C,1,1)
  extents.s = filter.size() == 2 ? 1 : filter.at(3);
  extents.axes = attributes.axes;
  extents.groups = extents.x.c / filter.at(1);
  return extents;
}

}  // namespace winnow::train
