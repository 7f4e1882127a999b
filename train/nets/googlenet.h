#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Szegedy et al., "Going deeper with convolutions" (CVPR 2015), with batch norm, as torchvision's
// GoogLeNet without its auxiliary classifiers.
Graph make_googlenet_bn(const NetOptions& options);

}  // namespace winnow::train
