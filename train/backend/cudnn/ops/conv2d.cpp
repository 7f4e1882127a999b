#include "train/ops/conv2d.h"

#include "train/backend/cudnn/ops/convolution.h"
#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {
void emit_convolution(CudnnLowering& lowering, const Node& node, const Convolution& convolution) {
  Layer layer{};
  layer.op = convolution.op;
  layer.operands = layer_operands(node, convolution.pass, convolution.attributes.bias);
  layer.description = lowering.description(convolution.pass);
  ConvExtents& extents = layer.description.extents;
  extents = conv_extents(lowering.graph(), layer.operands, convolution.attributes);
  layer.filter = {extents.y.c, extents.filter_channels(), extents.r, extents.s};
  lowering.layer(layer);
}

namespace {

void emit(CudnnLowering& lowering, const Node& node, Pass pass) {
  emit_convolution(lowering, node, {"conv2d", pass, attributes_of<ConvAttributes>(node)});
}

}  // namespace

void conv2d(CudnnLowering& lowering, const Node& node) { emit(lowering, node, Pass::kForward); }

void conv2d_backward_data(CudnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardData);
}

void conv2d_backward_filter(CudnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardFilter);
}

}  // namespace winnow::train::cudnn::ops
