#include "train/nets/pointwise.h"

#include <utility>

#include "train/ops/conv2d.h"

namespace winnow::train {

ValueId pointwise(NetBuilder& net, const std::string& name, ValueId x, std::int64_t features,
                  const NetBuilder::Linear& linear) {
  const std::int64_t c = net.channels(x);
  std::vector<ValueId> inputs = {x, net.weight(name + ".weight", {features, c}, linear.init)};
  if (linear.bias) {
    inputs.push_back(
        net.vector(name + ".bias", features, ValueKind::kParameter, linear.bias_init, c));
  }
  ConvAttributes attributes;
  attributes.bias = linear.bias;
  return net.add_layer(kConv2d, name, std::move(inputs), attributes);
}

}  // namespace winnow::train
