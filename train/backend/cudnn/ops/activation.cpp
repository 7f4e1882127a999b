#include "train/backend/lower/activation.h"

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {

void activation(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().activation, activation_arguments(lowering, node));
}

void activation_backward(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().activation_backward, activation_arguments(lowering, node));
}

}  // namespace winnow::train::cudnn::ops
