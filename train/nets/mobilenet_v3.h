#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// Howard et al., "Searching for MobileNetV3" (ICCV 2019), as torchvision has them, with dropout.
// Running statistics move by a tenth a step, as those of all nets here, not by a hundredth.
Graph make_mobilenet_v3_large(const NetOptions& options);
Graph make_mobilenet_v3_small(const NetOptions& options);

}  // namespace winnow::train
