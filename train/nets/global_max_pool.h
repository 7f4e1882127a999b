#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Global max pooling: (N,C,H,W) to (N,C,1,1).
ValueId global_max_pool(NetBuilder& net, const std::string& name, ValueId x);

}  // namespace winnow::train
