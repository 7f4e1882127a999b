#include "train/ops/grouped_conv2d.h"

#include "train/backend/cudnn/ops/convolution.h"
#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {
namespace {

void emit(CudnnLowering& lowering, const Node& node, Pass pass) {
  const ConvAttributes& attributes = attributes_of<GroupedConvAttributes>(node);
  emit_convolution(lowering, node, {"grouped_conv2d", pass, attributes});
}

}  // namespace

void grouped_conv2d(CudnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kForward);
}

void grouped_conv2d_backward_data(CudnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardData);
}

void grouped_conv2d_backward_filter(CudnnLowering& lowering, const Node& node) {
  emit(lowering, node, Pass::kBackwardFilter);
}

}  // namespace winnow::train::cudnn::ops
