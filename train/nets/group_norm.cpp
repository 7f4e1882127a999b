#include "train/nets/group_norm.h"

#include "train/ops/group_norm.h"

namespace winnow::train {

ValueId group_norm(NetBuilder& net, const std::string& name, ValueId x, int groups) {
  const std::int64_t c = net.channels(x);
  const ValueId scale = net.vector(name + ".weight", c, ValueKind::kParameter, Init::kOnes);
  const ValueId shift = net.vector(name + ".bias", c, ValueKind::kParameter, Init::kZeros);
  return net.add_layer(kGroupNorm, name, {x, scale, shift}, GroupNormAttributes{.groups = groups});
}

}  // namespace winnow::train
