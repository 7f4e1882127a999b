#pragma once

#include "train/nets/builder.h"

namespace winnow::train {

// What losses that compare views of an image compute of a net's features (Zbontar et al. 2021):
// three linear layers of as many outputs each, batch norm and ReLU between them. The first one is
// the net's own last layer, whose result is `first`. Names are those of PyTorch's Sequential:
// "projector.1" to "projector.6". Returns the projections.
ValueId add_projector(NetBuilder& net, ValueId first);

// Of the tensors behind the net's own last layer.
inline constexpr std::string_view kProjectorPrefix = "projector.";

}  // namespace winnow::train
