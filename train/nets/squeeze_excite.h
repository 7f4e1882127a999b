#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/nets/builder.h"
#include "train/ops/activation_kind.h"

namespace winnow::train {

// Squeeze and excite (Hu et al. 2018), torchvision's SqueezeExcitation: x with a factor for each
// channel of a sample, computed of the channels' means by two 1x1 convolutions, ".fc1" and ".fc2".
struct SqueezeExcite {
  std::int64_t squeezed = 1;                   // channels between them
  std::optional<ActivationKind> between = {};  // none: ReLU
  ActivationKind of_factor = ActivationKind::kSigmoid;
  Init bias_init = Init::kZeros;
};
ValueId squeeze_excite(NetBuilder& net, const std::string& name, ValueId x,
                       const SqueezeExcite& shape);

}  // namespace winnow::train
