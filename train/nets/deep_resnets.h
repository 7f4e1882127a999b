#pragma once

#include "train/nets/nets.h"

namespace winnow::train {

// ResNets of bottleneck blocks beyond ResNet-50, as in torchvision.
Graph make_resnet101(const NetOptions& options);        // He et al., CVPR 2016
Graph make_resnet152(const NetOptions& options);        // He et al., CVPR 2016
Graph make_resnext50_32x4d(const NetOptions& options);  // Xie et al., CVPR 2017
Graph make_wide_resnet50_2(const NetOptions& options);  // Zagoruyko and Komodakis, BMVC 2016

}  // namespace winnow::train
