#include "train/nets/projector.h"

namespace winnow::train {

ValueId add_projector(NetBuilder& net, ValueId first) {
  const auto name = [](int i) { return std::string(kProjectorPrefix) + std::to_string(i); };
  const std::int64_t features = net.channels(first);
  ValueId x = net.relu(name(2), net.batch_norm(name(1), first));
  x = net.linear(name(3), x, features, {.bias = false});
  x = net.relu(name(5), net.batch_norm(name(4), x));
  return net.linear(name(6), x, features, {.bias = false});
}

}  // namespace winnow::train
