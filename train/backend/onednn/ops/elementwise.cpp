#include "train/backend/lower/node_arguments.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void relu(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().relu, elementwise_arguments(lowering, node));
}

void relu_backward(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().relu_backward, elementwise_arguments(lowering, node));
}

void add(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().add, elementwise_arguments(lowering, node));
}

}  // namespace winnow::train::onednn::ops
