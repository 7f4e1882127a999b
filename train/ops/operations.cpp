#include "train/ops/operations.h"

#include <array>

#include "train/ops/activation.h"
#include "train/ops/attention.h"
#include "train/ops/barlow_twins.h"
#include "train/ops/batch_norm.h"
#include "train/ops/concat.h"
#include "train/ops/conv2d.h"
#include "train/ops/dropout.h"
#include "train/ops/elementwise.h"
#include "train/ops/group_norm.h"
#include "train/ops/grouped_conv2d.h"
#include "train/ops/layer_norm.h"
#include "train/ops/linear.h"
#include "train/ops/local_response_norm.h"
#include "train/ops/normalize_input.h"
#include "train/ops/pooling.h"
#include "train/ops/scale.h"
#include "train/ops/sigmoid_cross_entropy.h"
#include "train/ops/softmax_cross_entropy.h"
#include "train/ops/tokens.h"

namespace winnow::train {
namespace {

// In the order of their test cases. A case's random numbers depend on its position, so append new
// rows at the end.
constexpr auto kOperations = std::to_array<const Operation*>({
    &kConv2d,
    &kConv2dBackwardData,
    &kConv2dBackwardFilter,
    &kLinear,
    &kLinearBackwardData,
    &kLinearBackwardWeight,
    &kBatchNorm,
    &kBatchNormBackward,
    &kBatchNormInference,
    &kMaxPool,
    &kMaxPoolBackward,
    &kAvgPool,
    &kAvgPoolBackward,
    &kRelu,
    &kReluBackward,
    &kAdd,
    &kNormalizeInput,
    &kSoftmaxCrossEntropy,
    &kSoftmaxCrossEntropyBackward,
    &kGroupNorm,
    &kGroupNormBackward,
    &kGroupedConv2d,
    &kGroupedConv2dBackwardData,
    &kGroupedConv2dBackwardFilter,
    &kActivation,
    &kActivationBackward,
    &kScale,
    &kScaleFactorGradient,
    &kConcat,
    &kSlice,
    &kLayerNorm,
    &kLayerNormBackward,
    &kDropout,
    &kAttention,
    &kAttentionBackward,
    &kTokens,
    &kTokensBackward,
    &kSelectToken,
    &kSelectTokenBackward,
    &kSigmoidCrossEntropy,
    &kSigmoidCrossEntropyBackward,
    &kLocalResponseNorm,
    &kLocalResponseNormBackward,
    &kBatchNormStatistics,
    &kBatchNormSums,
    &kBatchNormInputGradient,
    &kBarlowTwins,
    &kBarlowTwinsBackward,
});

}  // namespace

std::span<const Operation* const> operations() { return kOperations; }

}  // namespace winnow::train
