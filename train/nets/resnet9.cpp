#include "train/nets/resnet9.h"

#include <string>
#include <utility>

#include "train/nets/builder.h"
#include "train/nets/global_max_pool.h"

namespace winnow::train {
namespace {

ValueId layer(NetBuilder& net, const std::string& name, ValueId x, std::int64_t filters) {
  x = net.conv(name + ".conv", x, {.filters = filters, .kernel = 3, .pad = 1});
  return net.relu(name + ".relu", net.batch_norm(name + ".bn", x));
}

ValueId residual(NetBuilder& net, const std::string& name, ValueId x) {
  const std::int64_t width = net.channels(x);
  const ValueId y = layer(net, name + ".res2", layer(net, name + ".res1", x, width), width);
  return net.add(name + ".add", x, y);
}

ValueId halved(NetBuilder& net, const std::string& name, ValueId x, std::int64_t filters) {
  return net.max_pool(name + ".pool", layer(net, name, x, filters), 2, 2);
}

}  // namespace

Graph make_resnet9(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = layer(net, "prep", net.image(), 64);
  x = residual(net, "layer1", halved(net, "layer1", x, 128));
  x = halved(net, "layer2", x, 256);
  x = residual(net, "layer3", halved(net, "layer3", x, 512));
  x = global_max_pool(net, "maxpool", x);
  x = net.linear("linear", x, options.classes, {.bias = false});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
