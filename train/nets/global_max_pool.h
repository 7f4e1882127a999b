#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Adds global max pooling: x (N,C,H,W) becomes (N,C,1,1).
ValueId global_max_pool(NetBuilder& net, const std::string& name, ValueId x);

}  // namespace winnow::train
