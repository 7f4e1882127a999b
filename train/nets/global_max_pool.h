#pragma once

#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// (N,C,H,W) to (N,C,1,1): the largest of each channel.
ValueId global_max_pool(NetBuilder& net, const std::string& name, ValueId x);

}  // namespace winnow::train
