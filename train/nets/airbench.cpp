#include "train/nets/airbench.h"

#include <string>
#include <utility>

#include "train/nets/activation.h"
#include "train/nets/builder.h"
#include "train/nets/global_max_pool.h"
#include "train/ops/conv2d.h"
#include "train/ops/pooling.h"

namespace winnow::train {
namespace {

ValueId gelu(NetBuilder& net, const std::string& name, ValueId x) {
  return activation(net, name, x, ActivationKind::kGelu);
}

// Two filters for each direction of a 2x2 patch: the direction and its opposite.
ValueId whitening(NetBuilder& net, const std::string& name, ValueId x) {
  const std::int64_t c = net.channels(x);
  const std::int64_t filters = 2 * c * 2 * 2;
  const ValueId weight =
      net.weight(name + ".weight", {filters, c, 2, 2}, Init::kWhitening, ValueKind::kBuffer);
  const ValueId bias =
      net.vector(name + ".bias", filters, ValueKind::kParameter, Init::kZeros, c * 2 * 2);
  ConvAttributes attributes;
  attributes.axes = both_axes(1, 0, 1);
  attributes.bias = true;
  return net.add_layer(kConv2d, name, {x, weight, bias}, attributes);
}

ValueId norm(NetBuilder& net, const std::string& name, ValueId x) {
  // The running statistics keep 0.6 of their value; in PyTorch's terms, momentum 0.4.
  return net.batch_norm(name, x, {.epsilon = 1e-12, .momentum = 0.4, .trains_scale = false});
}

ValueId group(NetBuilder& net, const std::string& name, ValueId x, std::int64_t filters) {
  const NetBuilder::Conv conv = {.filters = filters, .kernel = 3, .pad = 1, .init = Init::kDirac};
  x = net.max_pool(name + ".pool", net.conv(name + ".conv1", x, conv), 2, 2);
  x = gelu(net, name + ".activ1", norm(net, name + ".norm1", x));
  x = norm(net, name + ".norm2", net.conv(name + ".conv2", x, conv));
  return gelu(net, name + ".activ2", x);
}

// Divides the linear layer's logits by nine: averages over a 3x3 window in which all but the centre
// is padding.
ValueId ninth(NetBuilder& net, const std::string& name, ValueId x) {
  PoolAttributes attributes;
  attributes.kernel_h = 3;
  attributes.kernel_w = 3;
  attributes.pad = 1;
  return net.add_layer(kAvgPool, name, {x}, attributes);
}

}  // namespace

Graph make_airbench94(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = gelu(net, "1", whitening(net, "0", net.image()));
  x = group(net, "2", x, 64);
  x = group(net, "3", x, 256);
  x = group(net, "4", x, 256);
  x = ninth(net, "8", global_max_pool(net, "5", x));
  x = net.linear("7", x, options.classes, {.bias = false});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
