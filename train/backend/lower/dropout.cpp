#include "train/backend/lower/dropout.h"

#include "train/ops/dropout.h"

namespace winnow::train {

Fill<kernels::Dropout> dropout_arguments(ValuePlaces& places, const Node& node) {
  const auto& attributes = attributes_of<DropoutAttributes>(node);
  const Element type = places.element(node.outputs[0]);
  const Slots::Id x = places.read(node.inputs[0], type);
  const Slots::Id keys = places.home(node.inputs[1]);
  const Slots::Id y = places.write(node.outputs[0], type);
  const std::int64_t samples = places.value(node.inputs[0]).shape.at(0);
  kernels::Dropout made{};
  made.type = type;
  made.samples = samples;
  made.elements = places.count(node.inputs[0]) / samples;
  made.operation = attributes.operation;
  made.threshold = dropout_threshold(attributes.rate);
  made.factor = static_cast<float>(1 / (1 - attributes.rate));
  made.whole_samples = attributes.whole_samples;
  return [=](const Slots& at) {
    kernels::Dropout filled = made;
    filled.x = at.at(x);
    filled.keys = at.as<std::uint8_t>(keys);
    filled.y = at.at(y);
    return filled;
  };
}

}  // namespace winnow::train
