#include "train/backend/cudnn/ops/ops.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train::cudnn::ops {

void softmax_cross_entropy(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().loss, loss_arguments(lowering, node));
}

void softmax_cross_entropy_backward(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().loss_backward, loss_backward_arguments(lowering, node));
}

void sigmoid_cross_entropy(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().sigmoid_loss, sigmoid_loss_arguments(lowering, node));
}

void sigmoid_cross_entropy_backward(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().sigmoid_loss_backward,
                  sigmoid_loss_backward_arguments(lowering, node));
}

}  // namespace winnow::train::cudnn::ops
