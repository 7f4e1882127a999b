#include "train/backend/cudnn/ops/ops.h"
#include "train/ops/conv2d.h"

namespace winnow::train::cudnn::ops {
namespace {

void emit(CudnnLowering& lowering, const Node& node, Pass pass) {
  Layer layer{};
  layer.op = "conv2d";
  layer.operands = layer_operands(node, pass, attributes_of<ConvAttributes>(node).bias);
  layer.description = lowering.description(pass);
  ConvExtents& extents = layer.description.extents;
  extents = conv_extents(lowering.graph(), node, layer.operands);
  layer.filter = {extents.y.c, extents.x.c, extents.r, extents.s};
  lowering.layer(layer);
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
