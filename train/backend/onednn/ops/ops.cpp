#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn {
namespace ops {
namespace {

constexpr EmitterRow<OneDnnLowering> kRows[] = {
    {"normalize_input", normalize_input},
    {"conv2d", conv2d},
    {"conv2d_backward_data", conv2d_backward_data},
    {"conv2d_backward_filter", conv2d_backward_filter},
    {"batch_norm", batch_norm},
    {"batch_norm_backward", batch_norm_backward},
    {"batch_norm_inference", batch_norm_inference},
    {"relu", relu},
    {"relu_backward", relu_backward},
    {"add", add},
    {"max_pool", max_pool},
    {"max_pool_backward", max_pool_backward},
    {"avg_pool", avg_pool},
    {"avg_pool_backward", avg_pool_backward},
    {"linear", linear},
    {"linear_backward_data", linear_backward_data},
    {"linear_backward_weight", linear_backward_weight},
    {"softmax_cross_entropy", softmax_cross_entropy},
    {"softmax_cross_entropy_backward", softmax_cross_entropy_backward},
    {"group_norm", group_norm},
    {"group_norm_backward", group_norm_backward},
    {"grouped_conv2d", grouped_conv2d},
    {"grouped_conv2d_backward_data", grouped_conv2d_backward_data},
    {"grouped_conv2d_backward_filter", grouped_conv2d_backward_filter},
    {"activation", activation},
    {"activation_backward", activation_backward},
    {"scale", scale},
    {"scale_factor_gradient", scale_factor_gradient},
    {"concat", concat},
    {"slice", slice},
    {"layer_norm", layer_norm},
    {"layer_norm_backward", layer_norm_backward},
    {"dropout", dropout},
    {"attention", attention},
    {"attention_backward", attention_backward},
    {"tokens", tokens},
    {"tokens_backward", tokens_backward},
    {"select_token", select_token},
    {"select_token_backward", select_token_backward},
    {"sigmoid_cross_entropy", sigmoid_cross_entropy},
    {"sigmoid_cross_entropy_backward", sigmoid_cross_entropy_backward},
    {"local_response_norm", local_response_norm},
    {"local_response_norm_backward", local_response_norm_backward},
    {"batch_norm_statistics", batch_norm_statistics},
    {"batch_norm_sums", batch_norm_sums},
    {"batch_norm_input_gradient", batch_norm_input_gradient},
    {"barlow_twins", barlow_twins},
    {"barlow_twins_backward", barlow_twins_backward},
};

}  // namespace
}  // namespace ops

std::span<const EmitterRow<OneDnnLowering>> emitters() noexcept { return ops::kRows; }

}  // namespace winnow::train::onednn
