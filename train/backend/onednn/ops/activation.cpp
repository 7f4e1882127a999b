#include "train/backend/lower/activation.h"

#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void activation(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().activation, activation_arguments(lowering, node));
}

void activation_backward(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().activation_backward, activation_arguments(lowering, node));
}

}  // namespace winnow::train::onednn::ops
