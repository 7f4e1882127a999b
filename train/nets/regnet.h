#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds RegNetY-400MF, as in torchvision.
// Source  Radosavovic et al., "Designing network design spaces" (CVPR 2020).
Graph make_regnet_y_400mf(const NetOptions& options);

}  // namespace winnow::train
