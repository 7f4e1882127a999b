#include "train/backend/lower/tokens.h"

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {

void tokens(CudnnLowering& lowering, const Node& node) {
  emit_tokens(lowering, lowering.table(), node);
}

void tokens_backward(CudnnLowering& lowering, const Node& node) {
  const Shape& dy = lowering.value(node.inputs[0]).shape;
  const auto sums = lowering.sums_scratch({dy[0], element_count(dy) / dy[0], 1, 1});
  emit_tokens_backward(lowering, lowering.table(), node, sums);
}

void select_token(CudnnLowering& lowering, const Node& node) {
  emit_select_token(lowering, lowering.table(), node);
}

void select_token_backward(CudnnLowering& lowering, const Node& node) {
  emit_select_token_backward(lowering, lowering.table(), node);
}

}  // namespace winnow::train::cudnn::ops
