#include "train/nets/layer_norm.h"

#include "train/ops/layer_norm.h"

namespace winnow::train {

ValueId layer_norm(NetBuilder& net, const std::string& name, ValueId x, double epsilon) {
  const std::int64_t c = net.channels(x);
  const ValueId scale = net.vector(name + ".weight", c, ValueKind::kParameter, Init::kOnes);
  const ValueId shift = net.vector(name + ".bias", c, ValueKind::kParameter, Init::kZeros);
  return net.add_layer(kLayerNorm, name, {x, scale, shift},
                       LayerNormAttributes{.epsilon = epsilon});
}

}  // namespace winnow::train
