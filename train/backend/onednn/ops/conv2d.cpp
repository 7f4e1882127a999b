#include "train/backend/onednn/ops/ops_internal.h"
#include "train/ops/conv2d.h"

namespace winnow::train::onednn::ops {
namespace {

void emit(OneDnnLowering& lowering, const Node& node, Pass pass) {
  const bool bias = attributes_of<ConvAttributes>(node).bias && pass != Pass::kBackwardData;
  const LayerOperands operands = layer_operands(node, pass, bias);
  const ConvExtents extents = conv_extents(lowering.graph(), node, operands);
  const Primitive made =
      make_convolution(lowering.engine(), pass, extents, bias, lowering.compute());
  lowering.layer(operands, made, plain_filter(extents),
                 layer_name("conv2d", pass, lowering.compute(), to_string(extents)));
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
