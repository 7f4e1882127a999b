#include "train/backend/lower/attention.h"

#include <cmath>

#include "train/ops/attention.h"

namespace winnow::train {

float kernels::AttentionLayer::factor() const {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(width())));
}

kernels::AttentionLayer attention_layer(const ValuePlaces& places, const Node& node) {
  const Shape& x = places.value(node.inputs[0]).shape;
  return {.type = places.element(node.outputs[0]),
          .batch = x.at(0),
          .tokens = x.at(2) * x.at(3),
          .features = x.at(1) / 3,
          .heads = attributes_of<AttentionAttributes>(node).heads};
}

}  // namespace winnow::train
