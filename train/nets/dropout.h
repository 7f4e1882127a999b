#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// PyTorch's Dropout(rate), see train/ops/dropout.h.
ValueId dropout(NetBuilder& net, const std::string& name, ValueId x, double rate);

// torchvision's StochasticDepth(rate, "row") for the residual branch x: replaces it by 0 for some
// samples. With rate 0, returns x itself.
ValueId drop_path(NetBuilder& net, const std::string& name, ValueId x, double rate);

}  // namespace winnow::train
