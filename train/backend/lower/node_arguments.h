#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/lower/sigmoid_loss_kernels.h"
#include "train/backend/lower/value_places.h"

// Kernel arguments of a node. Its operands are read and written through `places`; addresses are
// resolved when the kernel runs.
namespace winnow::train {

template <class Arguments>
using Fill = std::function<Arguments(const Slots&)>;

// a, [b] -> y. Without b, a takes its place.
Fill<kernels::Elementwise> elementwise_arguments(ValuePlaces& places, const Node& node);

// Memory of a batch norm besides its operands, if the backend needs it.
struct NormSlots {
  std::optional<Slots::Id> coefficients;
  std::optional<Slots::Id> scratch;
};
// For training and for inference, which reads the statistics.
Fill<kernels::BatchNorm> batch_norm_arguments(ValuePlaces& places, const Node& node, bool inference,
                                              const NormSlots& memory);
// With coefficients, y is not read.
Fill<kernels::BatchNormBackward> batch_norm_backward_arguments(ValuePlaces& places,
                                                               const Node& node,
                                                               const NormSlots& memory);

// For batch norm in steps.
Fill<kernels::BatchNorm> batch_norm_statistics_arguments(ValuePlaces& places, const Node& node,
                                                         const NormSlots& memory);
Fill<kernels::BatchNormBackward> batch_norm_sums_arguments(ValuePlaces& places, const Node& node,
                                                           const NormSlots& memory);
Fill<kernels::BatchNormBackward> batch_norm_input_gradient_arguments(ValuePlaces& places,
                                                                     const Node& node,
                                                                     const NormSlots& memory);

// `index`: the value with the positions of the maxima, if any.
Fill<kernels::Pool> pool_arguments(ValuePlaces& places, const Node& node, bool backward,
                                   std::optional<ValueId> index);

Fill<kernels::Loss> loss_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::Loss> loss_backward_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::SigmoidLoss> sigmoid_loss_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::SigmoidLoss> sigmoid_loss_backward_arguments(ValuePlaces& places, const Node& node);

// y = pixel * factor + offset, for each channel.
struct PixelScale {
  std::vector<float> factor;
  std::vector<float> offset;
};
PixelScale pixel_scale(const Node& node);

}  // namespace winnow::train
