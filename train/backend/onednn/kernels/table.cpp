#include "train/backend/onednn/kernels/functions_internal.h"

namespace winnow::train::kernels::WINNOW_ISA {

constinit const Table kTable = {
    .name = WINNOW_ISA_NAME,
    .convert = convert,
    .normalize = normalize,
    .batch_norm = batch_norm,
    .batch_norm_inference = batch_norm_inference,
    .batch_norm_backward = batch_norm_backward,
    .relu = relu,
    .relu_backward = relu_backward,
    .add = add,
    .max_pool = max_pool,
    .max_pool_backward = max_pool_backward,
    .avg_pool = avg_pool,
    .avg_pool_backward = avg_pool_backward,
    .loss = loss,
    .loss_backward = loss_backward,
    .group_norm = group_norm,
    .group_norm_backward = group_norm_backward,
    .activation = activation,
    .activation_backward = activation_backward,
    .scale = scale,
    .scale_factor_gradient = scale_factor_gradient,
    .copy_channels = copy_channels,
    .layer_norm = layer_norm,
    .layer_norm_backward = layer_norm_backward,
    .dropout = dropout,
    .pad_channels = pad_channels,
    .add_bias = add_bias,
    .bias_gradient = bias_gradient,
    .softmax = softmax,
    .softmax_backward = softmax_backward,
    .sigmoid_loss = sigmoid_loss,
    .sigmoid_loss_backward = sigmoid_loss_backward,
    .local_response_norm = local_response_norm,
    .local_response_norm_backward = local_response_norm_backward,
};

}  // namespace winnow::train::kernels::WINNOW_ISA
