#include "train/backend/lower/barlow_twins.h"

#include "train/ops/barlow_twins.h"

namespace winnow::train {
namespace {

using Slot = Slots::Id;

// The inputs alone; the caller adds the outputs.
Fill<kernels::BarlowTwins> twins_inputs(ValuePlaces& places, const Node& node) {
  const Shape& shape = places.value(node.inputs[0]).shape;
  const kernels::TwinsLayer layer{places.element(node.inputs[0]), shape[0] / 2, shape[1],
                                  attributes_of<BarlowTwinsAttributes>(node).redundancy,
                                  kTwinsEpsilon};
  const Slot z = places.read(node.inputs[0], layer.type);
  const Slot weights = places.read(node.inputs[1], Element::kF32);
  const Slot scratch =
      places.slots().scratch(static_cast<std::size_t>(kernels::twins_scratch_bytes(layer)));
  return [=](const Slots& at) {
    return kernels::BarlowTwins{.layer = layer,
                                .z = at.at(z),
                                .weights = at.as<float>(weights),
                                .loss = nullptr,
                                .per_sample = nullptr,
                                .dz = nullptr,
                                .scratch = at.at(scratch)};
  };
}

}  // namespace

Fill<kernels::BarlowTwins> barlow_twins_arguments(ValuePlaces& places, const Node& node) {
  const Fill<kernels::BarlowTwins> inputs = twins_inputs(places, node);
  const Slot loss = places.write(node.outputs[0], Element::kF32);
  const Slot per_sample = places.write(node.outputs[1], Element::kF32);
  return [=](const Slots& at) {
    kernels::BarlowTwins made = inputs(at);
    made.loss = at.as<float>(loss);
    made.per_sample = at.as<float>(per_sample);
    return made;
  };
}

Fill<kernels::BarlowTwins> barlow_twins_backward_arguments(ValuePlaces& places, const Node& node) {
  const Fill<kernels::BarlowTwins> inputs = twins_inputs(places, node);
  const Slot dz = places.write(node.outputs[0], places.element(node.inputs[0]));
  return [=](const Slots& at) {
    kernels::BarlowTwins made = inputs(at);
    made.dz = at.at(dz);
    return made;
  };
}

}  // namespace winnow::train
