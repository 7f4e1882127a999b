#include "train/nets/squeeze_excite.h"

#include "train/nets/activation.h"
#include "train/ops/scale.h"

namespace winnow::train {

ValueId squeeze_excite(NetBuilder& net, const std::string& name, ValueId x,
                       const SqueezeExcite& shape) {
  const auto conv = [&](const std::string& layer, ValueId from, std::int64_t filters) {
    return net.conv(name + layer, from,
                    {.filters = filters, .bias = true, .bias_init = shape.bias_init});
  };
  ValueId y = conv(".fc1", net.global_average_pool(name + ".avgpool", x), shape.squeezed);
  y = shape.between ? activation(net, name + ".activation", y, *shape.between)
                    : net.relu(name + ".activation", y);
  y = conv(".fc2", y, net.channels(x));
  y = activation(net, name + ".scale_activation", y, shape.of_factor);
  return net.add_layer(kScale, name + ".scale", {x, y});
}

}  // namespace winnow::train
