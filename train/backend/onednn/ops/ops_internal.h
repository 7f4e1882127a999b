#pragma once

#include <span>

#include "train/backend/lower/emitters.h"
#include "train/backend/onednn/lowering_internal.h"

// One emitter for each operation: it emits the calls of one node. One file for each family of
// operations, one row each in ops.cpp.
namespace winnow::train::onednn {

std::span<const EmitterRow<OneDnnLowering>> emitters() noexcept;

namespace ops {
void normalize_input(OneDnnLowering& lowering, const Node& node);
void conv2d(OneDnnLowering& lowering, const Node& node);
void conv2d_backward_data(OneDnnLowering& lowering, const Node& node);
void conv2d_backward_filter(OneDnnLowering& lowering, const Node& node);
void batch_norm(OneDnnLowering& lowering, const Node& node);
void batch_norm_backward(OneDnnLowering& lowering, const Node& node);
void batch_norm_inference(OneDnnLowering& lowering, const Node& node);
void relu(OneDnnLowering& lowering, const Node& node);
void relu_backward(OneDnnLowering& lowering, const Node& node);
void add(OneDnnLowering& lowering, const Node& node);
void max_pool(OneDnnLowering& lowering, const Node& node);
void max_pool_backward(OneDnnLowering& lowering, const Node& node);
void avg_pool(OneDnnLowering& lowering, const Node& node);
void avg_pool_backward(OneDnnLowering& lowering, const Node& node);
void linear(OneDnnLowering& lowering, const Node& node);
void linear_backward_data(OneDnnLowering& lowering, const Node& node);
void linear_backward_weight(OneDnnLowering& lowering, const Node& node);
void softmax_cross_entropy(OneDnnLowering& lowering, const Node& node);
void softmax_cross_entropy_backward(OneDnnLowering& lowering, const Node& node);
void group_norm(OneDnnLowering& lowering, const Node& node);
void group_norm_backward(OneDnnLowering& lowering, const Node& node);
void grouped_conv2d(OneDnnLowering& lowering, const Node& node);
void grouped_conv2d_backward_data(OneDnnLowering& lowering, const Node& node);
void grouped_conv2d_backward_filter(OneDnnLowering& lowering, const Node& node);
void activation(OneDnnLowering& lowering, const Node& node);
void activation_backward(OneDnnLowering& lowering, const Node& node);
void scale(OneDnnLowering& lowering, const Node& node);
void scale_factor_gradient(OneDnnLowering& lowering, const Node& node);
void concat(OneDnnLowering& lowering, const Node& node);
void slice(OneDnnLowering& lowering, const Node& node);
void layer_norm(OneDnnLowering& lowering, const Node& node);
void layer_norm_backward(OneDnnLowering& lowering, const Node& node);
void dropout(OneDnnLowering& lowering, const Node& node);
void attention(OneDnnLowering& lowering, const Node& node);
void attention_backward(OneDnnLowering& lowering, const Node& node);
void tokens(OneDnnLowering& lowering, const Node& node);
void tokens_backward(OneDnnLowering& lowering, const Node& node);
void select_token(OneDnnLowering& lowering, const Node& node);
void select_token_backward(OneDnnLowering& lowering, const Node& node);
void sigmoid_cross_entropy(OneDnnLowering& lowering, const Node& node);
void sigmoid_cross_entropy_backward(OneDnnLowering& lowering, const Node& node);
void local_response_norm(OneDnnLowering& lowering, const Node& node);
void local_response_norm_backward(OneDnnLowering& lowering, const Node& node);
void batch_norm_statistics(OneDnnLowering& lowering, const Node& node);
void batch_norm_sums(OneDnnLowering& lowering, const Node& node);
void batch_norm_input_gradient(OneDnnLowering& lowering, const Node& node);
void barlow_twins(OneDnnLowering& lowering, const Node& node);
void barlow_twins_backward(OneDnnLowering& lowering, const Node& node);
}  // namespace ops

}  // namespace winnow::train::onednn
