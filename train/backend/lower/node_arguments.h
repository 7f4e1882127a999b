#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/lower/sigmoid_loss_kernels.h"
#include "train/backend/lower/value_places.h"

// Function that returns the kernel arguments of a node, evaluated when the kernel runs. The
// functions below reserve the memory of the node's operands in `places`.
namespace winnow::train {

template <class Arguments>
using Fill = std::function<Arguments(const Slots&)>;

// Arguments for y = f(a, b), or y = f(a); then b is a.
Fill<kernels::Elementwise> elementwise_arguments(ValuePlaces& places, const Node& node);

// Memory of a batch norm node besides its operands, if the backend needs it.
struct NormSlots {
  std::optional<Slots::Id> coefficients;
  std::optional<Slots::Id> scratch;
};
// Arguments of a batch norm, in training or for inference, which reads the statistics.
Fill<kernels::BatchNorm> batch_norm_arguments(ValuePlaces& places, const Node& node, bool inference,
                                              const NormSlots& memory);
// Arguments of the backward pass of a batch norm. If `memory` has coefficients, y is not read.
Fill<kernels::BatchNormBackward> batch_norm_backward_arguments(ValuePlaces& places,
                                                               const Node& node,
                                                               const NormSlots& memory);

// Arguments of the nodes of synchronised batch norm, whose passes are split in two nodes
// (train/ops/batch_norm.h).
Fill<kernels::BatchNorm> batch_norm_statistics_arguments(ValuePlaces& places, const Node& node,
                                                         const NormSlots& memory);
Fill<kernels::BatchNormBackward> batch_norm_sums_arguments(ValuePlaces& places, const Node& node,
                                                           const NormSlots& memory);
Fill<kernels::BatchNormBackward> batch_norm_input_gradient_arguments(ValuePlaces& places,
                                                                     const Node& node,
                                                                     const NormSlots& memory);

// Arguments of a pooling node. `index`: the value that holds the positions of the maxima, if any.
Fill<kernels::Pool> pool_arguments(ValuePlaces& places, const Node& node, bool backward,
                                   std::optional<ValueId> index);

Fill<kernels::Loss> loss_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::Loss> loss_backward_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::SigmoidLoss> sigmoid_loss_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::SigmoidLoss> sigmoid_loss_backward_arguments(ValuePlaces& places, const Node& node);

// Normalisation of pixels: y = pixel * factor + offset, for each channel.
struct PixelScale {
  std::vector<float> factor;
  std::vector<float> offset;
};
PixelScale pixel_scale(const Node& node);

}  // namespace winnow::train
