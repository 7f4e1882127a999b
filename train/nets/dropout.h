#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// PyTorch's Dropout(rate), see train/ops/dropout.h.
ValueId dropout(NetBuilder& net, const std::string& name, ValueId x, double rate);

// torchvision's StochasticDepth(rate, "row"): x, which a shortcut is added to, or 0 for some
// samples. Rate 0: x itself.
ValueId drop_path(NetBuilder& net, const std::string& name, ValueId x, double rate);

}  // namespace winnow::train
