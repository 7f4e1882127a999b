#pragma once

#include <string>

#include "train/nets/builder.h"
#include "train/ops/activation_kind.h"

namespace winnow::train {

ValueId activation(NetBuilder& net, const std::string& name, ValueId x, ActivationKind kind);

}  // namespace winnow::train
