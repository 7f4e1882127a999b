#include "train/backend/lower/local_response_norm.h"

#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void local_response_norm(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().local_response_norm,
                  local_response_norm_arguments(lowering, node));
}

void local_response_norm_backward(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().local_response_norm_backward,
                  local_response_norm_arguments(lowering, node));
}

}  // namespace winnow::train::onednn::ops
