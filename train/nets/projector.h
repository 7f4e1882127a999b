#pragma once

#include "train/nets/builder.h"

namespace winnow::train {

// Adds the projector for losses that compare views of an image: three linear layers of equal width,
// with batch norm and ReLU between them.
// First    `first` is the output of the first layer, which is the net's own last layer.
// Names    As in PyTorch's Sequential: "projector.1" to "projector.6".
// Returns  The projections.
// Source   Zbontar et al. 2021.
ValueId add_projector(NetBuilder& net, ValueId first);

// Prefix of the tensors after the net's own last layer.
inline constexpr std::string_view kProjectorPrefix = "projector.";

}  // namespace winnow::train
