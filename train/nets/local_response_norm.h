#pragma once

#include <string>

#include "train/nets/builder.h"
#include "train/ops/local_response_norm.h"

namespace winnow::train {

// Adds PyTorch's LocalResponseNorm. It has no parameters.
ValueId local_response_norm(NetBuilder& net, const std::string& name, ValueId x,
                            const LocalResponseNormAttributes& norm);

}  // namespace winnow::train
