#include "train/nets/global_max_pool.h"

#include "train/ops/pooling.h"

namespace winnow::train {

ValueId global_max_pool(NetBuilder& net, const std::string& name, ValueId x) {
  PoolAttributes attributes;
  attributes.kernel_h = static_cast<int>(net.shape(x)[2]);
  attributes.kernel_w = static_cast<int>(net.shape(x)[3]);
  return net.add_layer(kMaxPool, name, {x}, attributes);
}

}  // namespace winnow::train
