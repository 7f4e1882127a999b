#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Adds PyTorch's Dropout(rate), see train/ops/dropout.h.
ValueId dropout(NetBuilder& net, const std::string& name, ValueId x, double rate);

// Adds torchvision's StochasticDepth(rate, "row") to the residual branch x: in a random share
// `rate` of the samples, x becomes 0. With rate 0, returns x itself.
ValueId drop_path(NetBuilder& net, const std::string& name, ValueId x, double rate);

}  // namespace winnow::train
