#include "train/nets/inverted_residual.h"

#include <utility>

#include "train/nets/dropout.h"
#include "train/nets/grouped_conv.h"

namespace winnow::train {

ValueId conv_norm_activation(NetBuilder& net, const std::string& name, ValueId x,
                             const ConvNorm& layer) {
  x = conv_in_groups(net, name + ".0", x, layer.conv, layer.groups);
  x = net.batch_norm(name + ".1", x, {.epsilon = layer.epsilon});
  return layer.activate ? layer.activate(net, name + ".2", x) : x;
}

ValueId inverted_residual(NetBuilder& net, const std::string& name, ValueId x,
                          const InvertedResidual& shape) {
  int part = 0;
  const auto next = [&] { return name + "." + std::to_string(part++); };
  const auto layer = [&](ValueId from, const NetBuilder::Conv& conv, int groups,
                         const Activate& activate) {
    return conv_norm_activation(net, next(), from, {conv, groups, shape.epsilon, activate});
  };
  ValueId y = x;
  if (shape.widened != net.channels(x)) {
    y = layer(y, {.filters = shape.widened}, 1, shape.activate);
  }
  y = layer(y,
            {.filters = shape.widened,
             .kernel = shape.kernel,
             .stride = shape.stride,
             .pad = shape.kernel / 2},
            static_cast<int>(shape.widened), shape.activate);
  if (shape.squeeze) y = squeeze_excite(net, next(), y, *shape.squeeze);
  if (shape.flat) {
    y = net.conv(next(), y, {.filters = shape.filters});
    y = net.batch_norm(next(), y, {.epsilon = shape.epsilon});
  } else {
    y = layer(y, {.filters = shape.filters}, 1, {});
  }
  if (shape.stride != 1 || net.channels(x) != shape.filters) return y;
  return net.add(name + ".add", x, drop_path(net, name + ".stochastic_depth", y, shape.drop_path));
}

}  // namespace winnow::train
