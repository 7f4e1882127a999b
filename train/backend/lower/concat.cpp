#include "train/backend/lower/concat.h"

#include "train/backend/lower/layer.h"
#include "train/ops/concat.h"

namespace winnow::train {

Fill<kernels::CopyChannels> copy_arguments(const kernels::CopyChannels& made,
                                           const CopiedChannels& copied) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(made.type));
  return [=](const Slots& at) {
    kernels::CopyChannels filled = made;
    filled.from = static_cast<const char*>(at.at(copied.from)) + copied.from_first * bytes;
    filled.to = static_cast<char*>(at.at(copied.to)) + copied.to_first * bytes;
    return filled;
  };
}

std::vector<Fill<kernels::CopyChannels>> concat_arguments(ValuePlaces& places, const Node& node) {
  const Element type = places.element(node.outputs[0]);
  const ImageExtents y = image_extents(places.value(node.outputs[0]).shape);
  std::vector<Slots::Id> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(places.read(id, type));
  const Slots::Id to = places.write(node.outputs[0], type);
  std::vector<Fill<kernels::CopyChannels>> fills;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int64_t channels = places.value(node.inputs[i]).shape[1];
    fills.push_back(copy_arguments({type, y.rows(), channels, nullptr, channels, nullptr, y.c},
                                   {inputs[i], to, 0, first}));
    first += channels;
  }
  return fills;
}

Fill<kernels::CopyChannels> slice_arguments(ValuePlaces& places, const Node& node) {
  const Element type = places.element(node.outputs[0]);
  const ImageExtents x = image_extents(places.value(node.inputs[0]).shape);
  const auto& slice = attributes_of<SliceAttributes>(node);
  const Slots::Id from = places.read(node.inputs[0], type);
  const Slots::Id to = places.write(node.outputs[0], type);
  return copy_arguments({type, x.rows(), slice.channels, nullptr, x.c, nullptr, slice.channels},
                        {from, to, slice.first, 0});
}

}  // namespace winnow::train
