#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/nets/builder.h"
#include "train/ops/activation_kind.h"

namespace winnow::train {

// Squeeze and excite, torchvision's SqueezeExcitation: multiplies each channel of a sample by a
// factor. Two 1x1 convolutions, ".fc1" and ".fc2", compute the factors from the channels' means.
// Source  Hu et al. 2018.
struct SqueezeExcite {
  std::int64_t squeezed = 1;  // number of channels between the two convolutions
  // Activation between the two convolutions; nullopt: ReLU.
  std::optional<ActivationKind> between = {};
  ActivationKind of_factor = ActivationKind::kSigmoid;
  Init bias_init = Init::kZeros;
};
ValueId squeeze_excite(NetBuilder& net, const std::string& name, ValueId x,
                       const SqueezeExcite& shape);

}  // namespace winnow::train
