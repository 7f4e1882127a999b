#include "train/nets/activation.h"

#include "train/ops/activation.h"

namespace winnow::train {

ValueId activation(NetBuilder& net, const std::string& name, ValueId x, ActivationKind kind) {
  return net.add_layer(kActivation, name, {x}, ActivationAttributes{kind});
}

}  // namespace winnow::train
