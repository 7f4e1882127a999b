#include "train/backend/lower/local_response_norm.h"

#include "train/backend/lower/layer.h"
#include "train/ops/local_response_norm.h"

namespace winnow::train {

Fill<kernels::LocalResponseNorm> local_response_norm_arguments(ValuePlaces& places,
                                                               const Node& node) {
  const auto& norm = attributes_of<LocalResponseNormAttributes>(node);
  const ImageExtents x = image_extents(places.value(node.inputs[0]).shape);
  const Element type = places.element(node.outputs[0]);
  const kernels::LocalResponseNormLayer layer{type,
                                              x.rows(),
                                              x.c,
                                              norm.size,
                                              static_cast<float>(norm.alpha / norm.size),
                                              static_cast<float>(norm.beta),
                                              static_cast<float>(norm.k)};
  const Slots::Id from = places.read(node.inputs[0], type);
  const Slots::Id dy = places.read(node.inputs.back(), type);  // in the forward pass: x again
  const Slots::Id to = places.write(node.outputs[0], type);
  return [=](const Slots& at) {
    return kernels::LocalResponseNorm{layer, at.at(from), at.at(dy), at.at(to)};
  };
}

}  // namespace winnow::train
