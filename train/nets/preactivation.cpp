#include "train/nets/preactivation.h"

namespace winnow::train {
namespace {

ValueId activated(NetBuilder& net, const std::string& name, const std::string& number, ValueId x) {
  return net.relu(name + ".relu" + number, net.batch_norm(name + ".bn" + number, x));
}

// Starts from x if the shape stays, otherwise from its activation.
ValueId shortcut(NetBuilder& net, const std::string& name, ValueId x, ValueId activation,
                 std::int64_t filters, int stride) {
  if (stride == 1 && net.channels(x) == filters) return x;
  return net.conv(name + ".downsample.0", activation, {.filters = filters, .stride = stride});
}

}  // namespace

ValueId preactivated_basic_block(NetBuilder& net, const std::string& name, ValueId x,
                                 std::int64_t width, int stride) {
  const ValueId first = activated(net, name, "1", x);
  ValueId y =
      net.conv(name + ".conv1", first, {.filters = width, .kernel = 3, .stride = stride, .pad = 1});
  y = net.conv(name + ".conv2", activated(net, name, "2", y),
               {.filters = width, .kernel = 3, .pad = 1});
  return net.add(name + ".add", y, shortcut(net, name, x, first, width, stride));
}

ValueId preactivated_bottleneck(NetBuilder& net, const std::string& name, ValueId x,
                                std::int64_t width, int stride) {
  const ValueId first = activated(net, name, "1", x);
  ValueId y = net.conv(name + ".conv1", first, {.filters = width});
  y = net.conv(name + ".conv2", activated(net, name, "2", y),
               {.filters = width, .kernel = 3, .stride = stride, .pad = 1});
  y = net.conv(name + ".conv3", activated(net, name, "3", y), {.filters = 4 * width});
  return net.add(name + ".add", y, shortcut(net, name, x, first, 4 * width, stride));
}

}  // namespace winnow::train
