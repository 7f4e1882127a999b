#include "train/backend/lower/scale.h"

#include "train/backend/lower/layer.h"

namespace winnow::train {
namespace {

kernels::ScaleLayer scale_layer(const ValuePlaces& places, ValueId data, ValueId factor) {
  const ImageExtents x = image_extents(places.value(data).shape);
  const bool by_sample = places.value(factor).shape.size() != 3;
  return {places.compute(), x.n, x.h * x.w, x.c, by_sample};
}

}  // namespace

Fill<kernels::Scale> scale_arguments(ValuePlaces& places, const Node& node) {
  const kernels::ScaleLayer layer = scale_layer(places, node.inputs[0], node.inputs[1]);
  const Slots::Id x = places.read(node.inputs[0], layer.type);
  const Slots::Id factor = places.read(node.inputs[1], Element::kF32);
  const Slots::Id y = places.write(node.outputs[0], layer.type);
  return [=](const Slots& at) {
    return kernels::Scale{layer, at.at(x), at.as<float>(factor), at.at(y)};
  };
}

Fill<kernels::ScaleFactorGradient> scale_factor_gradient_arguments(ValuePlaces& places,
                                                                   const Node& node,
                                                                   Slots::Id scratch) {
  const kernels::ScaleLayer layer = scale_layer(places, node.inputs[0], node.outputs[0]);
  const Slots::Id x = places.read(node.inputs[0], layer.type);
  const Slots::Id dy = places.read(node.inputs[1], layer.type);
  const Slots::Id dfactor = places.write(node.outputs[0], Element::kF32);
  return [=](const Slots& at) {
    return kernels::ScaleFactorGradient{layer, at.at(x), at.at(dy), at.as<float>(dfactor),
                                        at.at(scratch)};
  };
}

}  // namespace winnow::train
