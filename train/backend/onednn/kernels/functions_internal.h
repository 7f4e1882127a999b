#pragma once

#include "train/backend/onednn/kernels.h"

// The kernels of one instruction set, see Table.
namespace winnow::train::kernels::WINNOW_ISA {

void convert(const Convert& a, int threads);
void normalize(const Normalize& a, int threads);
void batch_norm(const BatchNorm& a, int threads);
void batch_norm_inference(const BatchNorm& a, int threads);
void batch_norm_backward(const BatchNormBackward& a, int threads);
void relu(const Elementwise& a, int threads);
void relu_backward(const Elementwise& a, int threads);
void add(const Elementwise& a, int threads);
void max_pool(const Pool& a, int threads);
void max_pool_backward(const Pool& a, int threads);
void avg_pool(const Pool& a, int threads);
void avg_pool_backward(const Pool& a, int threads);
void loss(const Loss& a, int threads);
void loss_backward(const Loss& a, int threads);
void group_norm(const GroupNorm& a, int threads);
void group_norm_backward(const GroupNormBackward& a, int threads);
void activation(const Activate& a, int threads);
void activation_backward(const Activate& a, int threads);
void scale(const Scale& a, int threads);
void scale_factor_gradient(const ScaleFactorGradient& a, int threads);
void copy_channels(const CopyChannels& a, int threads);
void layer_norm(const GroupNorm& a, int threads);
void layer_norm_backward(const GroupNormBackward& a, int threads);
void dropout(const Dropout& a, int threads);
void pad_channels(const CopyChannels& a, int threads);
void add_bias(const AddBias& a, int threads);
void bias_gradient(const BiasGradient& a, int threads);
void softmax(const Softmax& a, int threads);
void softmax_backward(const SoftmaxBackward& a, int threads);
void sigmoid_loss(const SigmoidLoss& a, int threads);
void sigmoid_loss_backward(const SigmoidLoss& a, int threads);
void local_response_norm(const LocalResponseNorm& a, int threads);
void local_response_norm_backward(const LocalResponseNorm& a, int threads);
void batch_norm_statistics(const BatchNorm& a, int threads);
void batch_norm_sums(const BatchNormBackward& a, int threads);
void batch_norm_input_gradient(const BatchNormBackward& a, int threads);
void barlow_twins(const BarlowTwins& a, int threads);
void barlow_twins_backward(const BarlowTwins& a, int threads);

extern const Table kTable;

}  // namespace winnow::train::kernels::WINNOW_ISA
