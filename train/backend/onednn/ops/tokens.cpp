#include "train/backend/lower/tokens.h"

#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void tokens(OneDnnLowering& lowering, const Node& node) {
  emit_tokens(lowering, lowering.table(), node);
}

void tokens_backward(OneDnnLowering& lowering, const Node& node) {
  emit_tokens_backward(lowering, lowering.table(), node, std::nullopt);
}

void select_token(OneDnnLowering& lowering, const Node& node) {
  emit_select_token(lowering, lowering.table(), node);
}

void select_token_backward(OneDnnLowering& lowering, const Node& node) {
  emit_select_token_backward(lowering, lowering.table(), node);
}

}  // namespace winnow::train::onednn::ops
