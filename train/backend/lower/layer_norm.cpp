#include "train/backend/lower/layer_norm.h"

#include "train/backend/lower/group_norm.h"
#include "train/backend/lower/layer.h"
#include "train/ops/layer_norm.h"

namespace winnow::train {

kernels::GroupNormLayer layer_norm_layer(const ValuePlaces& places, const Node& node) {
  const ImageExtents x = image_extents(places.value(node.inputs[0]).shape);
  return {places.element(node.outputs[0]),
          x.rows(),
          1,
          x.c,
          1,
          attributes_of<LayerNormAttributes>(node).epsilon};
}

Fill<kernels::GroupNorm> layer_norm_arguments(ValuePlaces& places, const Node& node,
                                              std::optional<Slots::Id> scratch) {
  return group_norm_arguments(places, node, layer_norm_layer(places, node), scratch);
}

Fill<kernels::GroupNormBackward> layer_norm_backward_arguments(ValuePlaces& places,
                                                               const Node& node,
                                                               Slots::Id scratch) {
  return group_norm_backward_arguments(places, node, layer_norm_layer(places, node), scratch);
}

}  // namespace winnow::train
