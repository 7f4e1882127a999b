#include "train/ops/linear.h"

#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {
namespace {

void emit(OneDnnLowering& lowering, const Node& node, Pass pass) {
  const bool bias = attributes_of<LinearAttributes>(node).bias && pass != Pass::kBackwardData;
  const LayerOperands operands = layer_operands(node, pass, bias);
  const LinearExtents extents{image_extents(lowering.value(operands.data).shape),
                              lowering.value(operands.result).shape.at(1)};
  const std::string name = layer_name("linear", pass, lowering.compute(),
                                      to_string(extents.x) + " k" + std::to_string(extents.k)) +
                           (bias ? " bias" : "");
  const Primitive made = lowering.chosen(
      name, [&] { return make_linear(lowering.engine(), pass, extents, bias, lowering.compute()); },
      [&] { return linear_kernels(lowering.engine(), pass, extents, bias, lowering.compute()); });
  lowering.layer(operands, made, plain_filter(extents), name);
}

}  // namespace

void linear(OneDnnLowering& lowering, const Node& node) { emit(lowering, node, Pass::kForward); }

void linear_backward_data(OneDnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardData);
}

void linear_backward_weight(OneDnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardFilter);
}

}  // namespace winnow::train::onednn::ops
