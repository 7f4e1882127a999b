#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Builders of MobileNetV3 with dropout, as in torchvision. One difference: running statistics of
// batch norm have momentum 0.1, as in all nets here, not 0.01.
// Source  Howard et al., "Searching for MobileNetV3" (ICCV 2019).
Graph make_mobilenet_v3_large(const NetOptions& options);
Graph make_mobilenet_v3_small(const NetOptions& options);

}  // namespace winnow::train
