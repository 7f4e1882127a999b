#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn {
namespace {

constexpr EmitterRow<CudnnLowering> kRows[] = {
    {"normalize_input", ops::normalize_input},
    {"conv2d", ops::conv2d},
    {"conv2d_backward_data", ops::conv2d_backward_data},
    {"conv2d_backward_filter", ops::conv2d_backward_filter},
    {"batch_norm", ops::batch_norm},
    {"batch_norm_backward", ops::batch_norm_backward},
    {"batch_norm_inference", ops::batch_norm_inference},
    {"relu", ops::relu},
    {"relu_backward", ops::relu_backward},
    {"add", ops::add},
    {"max_pool", ops::max_pool},
    {"max_pool_backward", ops::max_pool_backward},
    {"avg_pool", ops::avg_pool},
    {"avg_pool_backward", ops::avg_pool_backward},
    {"linear", ops::linear},
    {"linear_backward_data", ops::linear_backward_data},
    {"linear_backward_weight", ops::linear_backward_weight},
    {"softmax_cross_entropy", ops::softmax_cross_entropy},
    {"softmax_cross_entropy_backward", ops::softmax_cross_entropy_backward},
    {"group_norm", ops::group_norm},
    {"group_norm_backward", ops::group_norm_backward},
    {"grouped_conv2d", ops::grouped_conv2d},
    {"grouped_conv2d_backward_data", ops::grouped_conv2d_backward_data},
    {"grouped_conv2d_backward_filter", ops::grouped_conv2d_backward_filter},
    {"activation", ops::activation},
    {"activation_backward", ops::activation_backward},
    {"scale", ops::scale},
    {"scale_factor_gradient", ops::scale_factor_gradient},
    {"concat", ops::concat},
    {"slice", ops::slice},
    {"layer_norm", ops::layer_norm},
    {"layer_norm_backward", ops::layer_norm_backward},
    {"dropout", ops::dropout},
    {"attention", ops::attention},
    {"attention_backward", ops::attention_backward},
    {"tokens", ops::tokens},
    {"tokens_backward", ops::tokens_backward},
    {"select_token", ops::select_token},
    {"select_token_backward", ops::select_token_backward},
    {"sigmoid_cross_entropy", ops::sigmoid_cross_entropy},
    {"sigmoid_cross_entropy_backward", ops::sigmoid_cross_entropy_backward},
    {"local_response_norm", ops::local_response_norm},
    {"local_response_norm_backward", ops::local_response_norm_backward},
    {"batch_norm_statistics", ops::batch_norm_statistics},
    {"batch_norm_sums", ops::batch_norm_sums},
    {"batch_norm_input_gradient", ops::batch_norm_input_gradient},
    {"barlow_twins", ops::barlow_twins},
    {"barlow_twins_backward", ops::barlow_twins_backward},
};

}  // namespace

std::span<const EmitterRow<CudnnLowering>> emitters() noexcept { return kRows; }

}  // namespace winnow::train::cudnn
