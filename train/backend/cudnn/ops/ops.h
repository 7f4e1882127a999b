#pragma once

#include <span>

#include "train/backend/cudnn/lowering.h"
#include "train/backend/lower/emitters.h"

// Emitters: for each operation, a function that emits the calls of one node. There is one file for
// each family of operations, and one row for each operation in ops.cpp.
namespace winnow::train::cudnn {

std::span<const EmitterRow<CudnnLowering>> emitters() noexcept;

namespace ops {
void normalize_input(CudnnLowering& lowering, const Node& node);
void conv2d(CudnnLowering& lowering, const Node& node);
void conv2d_backward_data(CudnnLowering& lowering, const Node& node);
void conv2d_backward_filter(CudnnLowering& lowering, const Node& node);
void batch_norm(CudnnLowering& lowering, const Node& node);
void batch_norm_backward(CudnnLowering& lowering, const Node& node);
void batch_norm_inference(CudnnLowering& lowering, const Node& node);
void relu(CudnnLowering& lowering, const Node& node);
void relu_backward(CudnnLowering& lowering, const Node& node);
void add(CudnnLowering& lowering, const Node& node);
void max_pool(CudnnLowering& lowering, const Node& node);
void max_pool_backward(CudnnLowering& lowering, const Node& node);
void avg_pool(CudnnLowering& lowering, const Node& node);
void avg_pool_backward(CudnnLowering& lowering, const Node& node);
void linear(CudnnLowering& lowering, const Node& node);
void linear_backward_data(CudnnLowering& lowering, const Node& node);
void linear_backward_weight(CudnnLowering& lowering, const Node& node);
void softmax_cross_entropy(CudnnLowering& lowering, const Node& node);
void softmax_cross_entropy_backward(CudnnLowering& lowering, const Node& node);
void group_norm(CudnnLowering& lowering, const Node& node);
void group_norm_backward(CudnnLowering& lowering, const Node& node);
void grouped_conv2d(CudnnLowering& lowering, const Node& node);
void grouped_conv2d_backward_data(CudnnLowering& lowering, const Node& node);
void grouped_conv2d_backward_filter(CudnnLowering& lowering, const Node& node);
void activation(CudnnLowering& lowering, const Node& node);
void activation_backward(CudnnLowering& lowering, const Node& node);
void scale(CudnnLowering& lowering, const Node& node);
void scale_factor_gradient(CudnnLowering& lowering, const Node& node);
void concat(CudnnLowering& lowering, const Node& node);
void slice(CudnnLowering& lowering, const Node& node);
void layer_norm(CudnnLowering& lowering, const Node& node);
void layer_norm_backward(CudnnLowering& lowering, const Node& node);
void dropout(CudnnLowering& lowering, const Node& node);
void attention(CudnnLowering& lowering, const Node& node);
void attention_backward(CudnnLowering& lowering, const Node& node);
void tokens(CudnnLowering& lowering, const Node& node);
void tokens_backward(CudnnLowering& lowering, const Node& node);
void select_token(CudnnLowering& lowering, const Node& node);
void select_token_backward(CudnnLowering& lowering, const Node& node);
void sigmoid_cross_entropy(CudnnLowering& lowering, const Node& node);
void sigmoid_cross_entropy_backward(CudnnLowering& lowering, const Node& node);
void local_response_norm(CudnnLowering& lowering, const Node& node);
void local_response_norm_backward(CudnnLowering& lowering, const Node& node);
void batch_norm_statistics(CudnnLowering& lowering, const Node& node);
void batch_norm_sums(CudnnLowering& lowering, const Node& node);
void batch_norm_input_gradient(CudnnLowering& lowering, const Node& node);
void barlow_twins(CudnnLowering& lowering, const Node& node);
void barlow_twins_backward(CudnnLowering& lowering, const Node& node);
}  // namespace ops

}  // namespace winnow::train::cudnn
