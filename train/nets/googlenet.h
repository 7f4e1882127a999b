#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builds GoogLeNet with batch norm, as in torchvision, without auxiliary classifiers.
// Source  Szegedy et al., "Going deeper with convolutions" (CVPR 2015).
Graph make_googlenet_bn(const NetOptions& options);

}  // namespace winnow::train
