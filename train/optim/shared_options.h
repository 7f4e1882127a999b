#pragma once

#include "train/optim/options.h"

namespace winnow::train {

// Options that several optimisers have.
inline constexpr Option kMomentumOption{"momentum", "Momentum", OptionKind::kNumber, 0.9,
                                        Range{.most = 1, .below_most = true}};
constexpr Option weight_decay_option(double initial) {
  return {"weight_decay", "Weight decay; never on biases and batch norm", OptionKind::kNumber,
          initial};
}

}  // namespace winnow::train
