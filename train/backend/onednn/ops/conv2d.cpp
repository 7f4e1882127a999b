#include "train/ops/conv2d.h"

#include "train/backend/onednn/ops/convolution_internal.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {
void emit_convolution(OneDnnLowering& lowering, const Node& node, const Convolution& convolution) {
  const auto& [op, pass, attributes] = convolution;
  const bool bias = attributes.bias && pass != Pass::kBackwardData;
  const LayerOperands operands = layer_operands(node, pass, bias);
  const ConvExtents extents = conv_extents(lowering.graph(), operands, attributes);
  const std::string name =
      layer_name(op, pass, lowering.compute(), to_string(extents)) + (bias ? " bias" : "");
  const Primitive made = lowering.chosen(
      name,
      [&] { return make_convolution(lowering.engine(), pass, extents, bias, lowering.compute()); },
      [&] {
        return convolution_kernels(lowering.engine(), pass, extents, bias, lowering.compute());
      });
  lowering.layer(operands, made, plain_filter(extents), name);
}

namespace {

void emit(OneDnnLowering& lowering, const Node& node, Pass pass) {
  emit_convolution(lowering, node, {"conv2d", pass, attributes_of<ConvAttributes>(node)});
}

}  // namespace

void conv2d(OneDnnLowering& lowering, const Node& node) { emit(lowering, node, Pass::kForward); }

void conv2d_backward_data(OneDnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardData);
}

void conv2d_backward_filter(OneDnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardFilter);
}

}  // namespace winnow::train::onednn::ops
