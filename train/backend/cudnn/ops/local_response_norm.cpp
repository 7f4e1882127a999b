#include "train/backend/lower/local_response_norm.h"

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {

void local_response_norm(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().local_response_norm,
                  local_response_norm_arguments(lowering, node));
}

void local_response_norm_backward(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().local_response_norm_backward,
                  local_response_norm_arguments(lowering, node));
}

}  // namespace winnow::train::cudnn::ops
