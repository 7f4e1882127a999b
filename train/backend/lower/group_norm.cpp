#include "train/backend/lower/group_norm.h"

#include "train/backend/lower/layer.h"
#include "train/ops/group_norm.h"

namespace winnow::train {

using Slot = Slots::Id;

kernels::GroupNormLayer group_norm_layer(const ValuePlaces& places, const Node& node) {
  const auto& attributes = attributes_of<GroupNormAttributes>(node);
  const ImageExtents x = image_extents(places.value(node.inputs[0]).shape);
  return {
      places.element(node.outputs[0]), x.n, x.h * x.w, x.c, attributes.groups, attributes.epsilon};
}

Fill<kernels::GroupNorm> group_norm_arguments(ValuePlaces& places, const Node& node,
                                              const kernels::GroupNormLayer& layer,
                                              std::optional<Slot> scratch) {
  const Slot x = places.read(node.inputs[0], layer.type);
  const Slot scale = places.read(node.inputs[1], Element::kF32);
  const Slot shift = places.read(node.inputs[2], Element::kF32);
  const Slot y = places.write(node.outputs[0], layer.type);
  const Slot mean = places.write(node.outputs[1], Element::kF32);
  const Slot variance = places.write(node.outputs[2], Element::kF32);
  return [=](const Slots& at) {
    return kernels::GroupNorm{.layer = layer,
                              .x = at.at(x),
                              .y = at.at(y),
                              .scale = at.as<float>(scale),
                              .shift = at.as<float>(shift),
                              .statistics = {at.as<float>(mean), at.as<float>(variance)},
                              .scratch = scratch ? at.at(*scratch) : nullptr};
  };
}

Fill<kernels::GroupNormBackward> group_norm_backward_arguments(ValuePlaces& places,
                                                               const Node& node,
                                                               const kernels::GroupNormLayer& layer,
                                                               Slot scratch) {
  const Slot x = places.read(node.inputs[0], layer.type);
  const Slot scale = places.read(node.inputs[1], Element::kF32);
  const Slot mean = places.read(node.inputs[2], Element::kF32);
  const Slot variance = places.read(node.inputs[3], Element::kF32);
  const Slot dy = places.read(node.inputs[4], layer.type);
  const Slot dx = places.write(node.outputs[0], layer.type);
  const Slot dscale = places.write(node.outputs[1], Element::kF32);
  const Slot dshift = places.write(node.outputs[2], Element::kF32);
  return [=](const Slots& at) {
    return kernels::GroupNormBackward{
        .layer = layer,
        .x = at.at(x),
        .dy = at.at(dy),
        .scale = at.as<float>(scale),
        .statistics = {at.as<float>(mean), at.as<float>(variance)},
        .gradients = {at.at(dx), at.as<float>(dscale), at.as<float>(dshift)},
        .scratch = at.at(scratch)};
  };
}

}  // namespace winnow::train
