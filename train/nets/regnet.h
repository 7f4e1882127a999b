#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Radosavovic et al., "Designing network design spaces" (CVPR 2020): RegNetY-400MF as torchvision
// has it.
Graph make_regnet_y_400mf(const NetOptions& options);

}  // namespace winnow::train
