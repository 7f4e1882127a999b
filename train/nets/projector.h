#pragma once

#include "train/nets/builder.h"

namespace winnow::train {

// Adds the projector for losses that compare views of an image: three linear layers of equal width,
// with batch norm and ReLU between them. Returns its output, the projections.
// first   Output of the first of the three layers, which is the net's own last layer.
// Names   As in PyTorch's Sequential: "projector.1" to "projector.6".
// Source  Zbontar et al. 2021.
ValueId add_projector(NetBuilder& net, ValueId first);

// Prefix of the names of the projector's tensors.
inline constexpr std::string_view kProjectorPrefix = "projector.";

}  // namespace winnow::train
