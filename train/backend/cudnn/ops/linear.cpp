#include "train/ops/linear.h"

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {
namespace {

// As a 1x1 convolution of one pixel, whose channels are the features of x.
void emit(CudnnLowering& lowering, const Node& node, Pass pass) {
  Layer layer{};
  layer.op = "linear";
  layer.operands = layer_operands(node, pass, attributes_of<LinearAttributes>(node).bias);
  layer.description = lowering.description(pass);
  const ImageExtents x = image_extents(lowering.value(layer.operands.data).shape);
  const ImageExtents y = image_extents(lowering.value(layer.operands.result).shape);
  layer.description.extents.x = {x.n, x.c * x.h * x.w, 1, 1};
  layer.description.extents.y = {x.n, y.c, 1, 1};
  layer.filter = {y.c, x.c, x.h, x.w};
  lowering.layer(layer);
}

}  // namespace

void linear(CudnnLowering& lowering, const Node& node) { emit(lowering, node, Pass::kForward); }

void linear_backward_data(CudnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardData);
}

void linear_backward_weight(CudnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardFilter);
}

}  // namespace winnow::train::cudnn::ops
