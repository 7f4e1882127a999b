#include "train/backend/lower/node_arguments.h"

#include <array>

#include "train/backend/lower/layer.h"
#include "train/ops/batch_norm.h"
#include "train/ops/normalize_input.h"
#include "train/ops/pooling.h"
#include "train/ops/sigmoid_cross_entropy.h"
#include "train/ops/softmax_cross_entropy.h"

namespace winnow::train {
namespace {

using Slot = Slots::Id;

void* at_or_null(const Slots& at, const std::optional<Slot>& slot) {
  return slot ? at.at(*slot) : nullptr;
}

kernels::NormLayer norm_layer(const ValuePlaces& places, const Node& node) {
  const auto& attributes = attributes_of<NormAttributes>(node);
  const ImageExtents extents = image_extents(places.value(node.inputs[0]).shape);
  return {places.element(node.inputs[0]), extents.rows(), extents.c, attributes.epsilon,
          attributes.relu};
}

kernels::NormMemory memory_at(const Slots& at, const NormSlots& memory) {
  return {static_cast<float*>(at_or_null(at, memory.coefficients)), at_or_null(at, memory.scratch)};
}

// The inputs alone; the caller adds the outputs.
Fill<kernels::Loss> loss_inputs(ValuePlaces& places, const Node& node, double smoothing) {
  const ImageExtents extents = image_extents(places.value(node.inputs[0]).shape);
  const kernels::LossLayer layer{places.element(node.inputs[0]), extents.n, extents.c, smoothing};
  const Slot logits = places.read(node.inputs[0], layer.type);
  const Slot targets = places.read(node.inputs[1], Element::kF32);
  const Slot weights = places.read(node.inputs[2], Element::kF32);
  return [=](const Slots& at) {
    return kernels::Loss{.layer = layer,
                         .logits = at.at(logits),
                         .targets = at.as<float>(targets),
                         .weights = at.as<float>(weights),
                         .loss = nullptr,
                         .per_sample = nullptr,
                         .dlogits = nullptr};
  };
}

}  // namespace

Fill<kernels::Elementwise> elementwise_arguments(ValuePlaces& places, const Node& node) {
  const Element type = places.element(node.outputs[0]);
  const Slot a = places.read(node.inputs[0], type);
  const Slot b = places.read(node.inputs.back(), type);
  const Slot y = places.write(node.outputs[0], type);
  return [=, count = places.count(node.outputs[0])](const Slots& at) {
    return kernels::Elementwise{type, at.at(a), at.at(b), at.at(y), count};
  };
}

Fill<kernels::BatchNorm> batch_norm_arguments(ValuePlaces& places, const Node& node, bool inference,
                                              const NormSlots& memory) {
  const auto& in = node.inputs;
  const auto& out = node.outputs;
  const kernels::NormLayer layer = norm_layer(places, node);
  const Slot x = places.read(in[0], layer.type);
  const Slot scale = places.read(in[1], Element::kF32);
  const Slot shift = places.read(in[2], Element::kF32);
  std::optional<Slot> residual;
  if (attributes_of<NormAttributes>(node).residual) residual = places.read(in.back(), layer.type);
  const Slot y = places.write(out[0], layer.type);
  const auto statistic = [&](std::size_t which) {
    return inference ? places.read(in[3 + which], Element::kF32)
                     : places.write(out[1 + which], Element::kF32);
  };
  const Slot mean = statistic(0);
  const Slot variance = statistic(1);
  return [=](const Slots& at) {
    return kernels::BatchNorm{.layer = layer,
                              .x = at.at(x),
                              .residual = at_or_null(at, residual),
                              .y = at.at(y),
                              .scale = at.as<float>(scale),
                              .shift = at.as<float>(shift),
                              .statistics = {at.as<float>(mean), at.as<float>(variance)},
                              .memory = memory_at(at, memory)};
  };
}

Fill<kernels::BatchNormBackward> batch_norm_backward_arguments(ValuePlaces& places,
                                                               const Node& node,
                                                               const NormSlots& memory) {
  const auto& in = node.inputs;
  const auto& out = node.outputs;
  const kernels::NormLayer layer = norm_layer(places, node);
  const Slot x = places.read(in[0], layer.type);
  const Slot scale = places.read(in[1], Element::kF32);
  const Slot mean = places.read(in[2], Element::kF32);
  const Slot variance = places.read(in[3], Element::kF32);
  const Slot dy = places.read(in[4], layer.type);
  std::optional<Slot> y;
  if (layer.relu && !memory.coefficients) y = places.read(in[5], layer.type);
  const Slot dx = places.write(out[0], layer.type);
  const Slot dscale = places.write(out[1], Element::kF32);
  const Slot dshift = places.write(out[2], Element::kF32);
  std::optional<Slot> dresidual;
  if (out.size() > 3) dresidual = places.write(out[3], layer.type);
  return [=](const Slots& at) {
    return kernels::BatchNormBackward{.layer = layer,
                                      .x = at.at(x),
                                      .dy = at.at(dy),
                                      .y = at_or_null(at, y),
                                      .scale = at.as<float>(scale),
                                      .statistics = {at.as<float>(mean), at.as<float>(variance)},
                                      .gradients = {at.at(dx), at_or_null(at, dresidual),
                                                    at.as<float>(dscale), at.as<float>(dshift)},
                                      .memory = memory_at(at, memory)};
  };
}

Fill<kernels::BatchNorm> batch_norm_statistics_arguments(ValuePlaces& places, const Node& node,
                                                         const NormSlots& memory) {
  const ImageExtents extents = image_extents(places.value(node.inputs[0]).shape);
  const kernels::NormLayer layer{places.element(node.inputs[0]), extents.rows(), extents.c, 0,
                                 false};
  const Slot x = places.read(node.inputs[0], layer.type);
  const Slot mean = places.write(node.outputs[0], Element::kF32);
  const Slot variance = places.write(node.outputs[1], Element::kF32);
  return [=](const Slots& at) {
    return kernels::BatchNorm{.layer = layer,
                              .x = at.at(x),
                              .residual = nullptr,
                              .y = nullptr,
                              .scale = nullptr,
                              .shift = nullptr,
                              .statistics = {at.as<float>(mean), at.as<float>(variance)},
                              .memory = memory_at(at, memory)};
  };
}

Fill<kernels::BatchNormBackward> batch_norm_sums_arguments(ValuePlaces& places, const Node& node,
                                                           const NormSlots& memory) {
  const auto& in = node.inputs;
  const kernels::NormLayer layer = norm_layer(places, node);
  const Slot x = places.read(in[0], layer.type);
  const Slot mean = places.read(in[1], Element::kF32);
  const Slot variance = places.read(in[2], Element::kF32);
  const Slot dy = places.read(in[3], layer.type);
  std::optional<Slot> y;
  if (layer.relu) y = places.read(in[4], layer.type);
  std::array<Slot, 4> sums{};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums.at(i) = places.write(node.outputs[i], Element::kF32);
  }
  return [=](const Slots& at) {
    return kernels::BatchNormBackward{
        .layer = layer,
        .x = at.at(x),
        .dy = at.at(dy),
        .y = at_or_null(at, y),
        .scale = nullptr,
        .statistics = {at.as<float>(mean), at.as<float>(variance)},
        .gradients = {nullptr, nullptr, at.as<float>(sums[0]), at.as<float>(sums[1]),
                      at.as<float>(sums[2]), at.as<float>(sums[3])},
        .memory = memory_at(at, memory)};
  };
}

Fill<kernels::BatchNormBackward> batch_norm_input_gradient_arguments(ValuePlaces& places,
                                                                     const Node& node,
                                                                     const NormSlots& memory) {
  const auto& in = node.inputs;
  const kernels::NormLayer layer = norm_layer(places, node);
  const Slot x = places.read(in[0], layer.type);
  const Slot dy = places.read(in[4], layer.type);
  std::array<Slot, 5> vectors{};  // scale, mean, variance, mean_product, mean_gradient
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    vectors.at(i) = places.read(in[i < 3 ? 1 + i : 2 + i], Element::kF32);  // dy is between them
  }
  std::optional<Slot> y;
  if (layer.relu) y = places.read(in[7], layer.type);
  const Slot dx = places.write(node.outputs[0], layer.type);
  std::optional<Slot> dresidual;
  if (node.outputs.size() > 1) dresidual = places.write(node.outputs[1], layer.type);
  return [=](const Slots& at) {
    return kernels::BatchNormBackward{
        .layer = layer,
        .x = at.at(x),
        .dy = at.at(dy),
        .y = at_or_null(at, y),
        .scale = at.as<float>(vectors[0]),
        .statistics = {at.as<float>(vectors[1]), at.as<float>(vectors[2])},
        .gradients = {at.at(dx), at_or_null(at, dresidual), nullptr, nullptr,
                      at.as<float>(vectors[3]), at.as<float>(vectors[4])},
        .memory = memory_at(at, memory)};
  };
}

Fill<kernels::Pool> pool_arguments(ValuePlaces& places, const Node& node, bool backward,
                                   std::optional<ValueId> index) {
  const auto& attributes = attributes_of<PoolAttributes>(node);
  const Element type = places.element(node.outputs[0]);
  const Slot from = places.read(node.inputs[0], type);
  const Slot to = places.write(node.outputs[0], type);
  std::optional<Slot> place;
  if (index) place = places.home(*index);
  const ValueId data = backward ? node.outputs[0] : node.inputs[0];
  const ValueId result = backward ? node.inputs[0] : node.outputs[0];
  const ImageExtents x = image_extents(places.value(data).shape);
  const ImageExtents y = image_extents(places.value(result).shape);
  const kernels::PoolWindow window{attributes.kernel_h, attributes.kernel_w, attributes.stride,
                                   attributes.pad};
  const kernels::PoolLayer layer{x.n, x.c, x.h, x.w, y.h, y.w, window};
  return [=](const Slots& at) {
    return kernels::Pool{type, layer, at.at(from), at.at(to),
                         static_cast<std::uint8_t*>(at_or_null(at, place))};
  };
}

namespace {

Fill<kernels::Loss> smoothed_loss(ValuePlaces& places, const Node& node, double smoothing) {
  const Fill<kernels::Loss> inputs = loss_inputs(places, node, smoothing);
  const Slot loss = places.write(node.outputs[0], Element::kF32);
  const Slot per_sample = places.write(node.outputs[1], Element::kF32);
  return [=](const Slots& at) {
    kernels::Loss made = inputs(at);
    made.loss = at.as<float>(loss);
    made.per_sample = at.as<float>(per_sample);
    return made;
  };
}

Fill<kernels::Loss> smoothed_loss_backward(ValuePlaces& places, const Node& node,
                                           double smoothing) {
  const Fill<kernels::Loss> inputs = loss_inputs(places, node, smoothing);
  const Slot dlogits = places.write(node.outputs[0], places.element(node.inputs[0]));
  return [=](const Slots& at) {
    kernels::Loss made = inputs(at);
    made.dlogits = at.at(dlogits);
    return made;
  };
}

template <auto kSmoothed>
Fill<kernels::SigmoidLoss> sigmoid_loss(ValuePlaces& places, const Node& node) {
  const auto& attributes = attributes_of<SigmoidLossAttributes>(node);
  const auto classes = static_cast<double>(places.value(node.inputs[0]).shape[1]);
  return [of = kSmoothed(places, node, attributes.label_smoothing),
          focal = kernels::FocalFactors{attributes.gamma, attributes.alpha},
          share = attributes.mean ? 1 / classes : 1.0](const Slots& at) {
    return kernels::SigmoidLoss{of(at), focal, share};
  };
}

}  // namespace

Fill<kernels::Loss> loss_arguments(ValuePlaces& places, const Node& node) {
  return smoothed_loss(places, node, attributes_of<LossAttributes>(node).label_smoothing);
}

Fill<kernels::Loss> loss_backward_arguments(ValuePlaces& places, const Node& node) {
  return smoothed_loss_backward(places, node, attributes_of<LossAttributes>(node).label_smoothing);
}

Fill<kernels::SigmoidLoss> sigmoid_loss_arguments(ValuePlaces& places, const Node& node) {
  return sigmoid_loss<smoothed_loss>(places, node);
}

Fill<kernels::SigmoidLoss> sigmoid_loss_backward_arguments(ValuePlaces& places, const Node& node) {
  return sigmoid_loss<smoothed_loss_backward>(places, node);
}

PixelScale pixel_scale(const Node& node) {
  const auto& attributes = attributes_of<NormalizeAttributes>(node);
  PixelScale scale;
  for (std::size_t c = 0; c < attributes.mean.size(); ++c) {
    const double mean = attributes.mean[c];
    const double stddev = attributes.stddev[c];
    scale.factor.push_back(static_cast<float>(1 / (255 * stddev)));
    scale.offset.push_back(static_cast<float>(-mean / stddev));
  }
  return scale;
}

}  // namespace winnow::train
