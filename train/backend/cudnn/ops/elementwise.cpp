#include "train/backend/cudnn/ops/ops.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train::cudnn::ops {

void relu(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().relu, elementwise_arguments(lowering, node));
}

void relu_backward(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().relu_backward, elementwise_arguments(lowering, node));
}

void add(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().add, elementwise_arguments(lowering, node));
}

}  // namespace winnow::train::cudnn::ops
