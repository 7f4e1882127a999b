#include "train/nets/local_response_norm.h"

namespace winnow::train {

ValueId local_response_norm(NetBuilder& net, const std::string& name, ValueId x,
                            const LocalResponseNormAttributes& norm) {
  return net.add_layer(kLocalResponseNorm, name, {x}, norm);
}

}  // namespace winnow::train
