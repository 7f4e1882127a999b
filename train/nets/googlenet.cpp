#include "train/nets/googlenet.h"

#include <string>
#include <utility>

#include "train/nets/dropout.h"
#include "train/ops/concat.h"
#include "train/ops/pooling.h"

namespace winnow::train {
namespace {

ValueId basic(NetBuilder& net, const std::string& name, ValueId x, std::int64_t filters,
              int kernel) {
  x = net.conv(name + ".conv", x,
               {.filters = filters, .kernel = kernel, .pad = kernel / 2, .init = Init::kNormal001});
  return net.relu(name + ".relu", net.batch_norm(name + ".bn", x, {.epsilon = 1e-3}));
}

ValueId pool(NetBuilder& net, const std::string& name, ValueId x, int kernel, int stride) {
  PoolAttributes attributes;
  attributes.kernel_h = attributes.kernel_w = kernel;
  attributes.stride = stride;
  attributes.pad = stride == 1 ? kernel / 2 : 0;
  attributes.ceil = true;
  return net.add_layer(kMaxPool, name, {x}, attributes);
}

// Filters of the four branches: 1x1; 1x1, then 3x3; 1x1, then again 3x3 as in torchvision (5x5 in
// the paper); pooling, then 1x1.
struct Inception {
  const char* name;
  int one, three_in, three, five_in, five, pooled;
};

ValueId inception(NetBuilder& net, ValueId x, const Inception& shape) {
  const std::string name = shape.name;
  const ValueId one = basic(net, name + ".branch1", x, shape.one, 1);
  const ValueId three =
      basic(net, name + ".branch2.1", basic(net, name + ".branch2.0", x, shape.three_in, 1),
            shape.three, 3);
  const ValueId five = basic(net, name + ".branch3.1",
                             basic(net, name + ".branch3.0", x, shape.five_in, 1), shape.five, 3);
  const ValueId pooled =
      basic(net, name + ".branch4.1", pool(net, name + ".branch4.0", x, 3, 1), shape.pooled, 1);
  return net.add_layer(kConcat, name + ".concat", {one, three, five, pooled});
}

}  // namespace

Graph make_googlenet_bn(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x =
      net.conv("conv1.conv", net.image(),
               {.filters = 64, .kernel = 7, .stride = 2, .pad = 3, .init = Init::kNormal001});
  x = net.relu("conv1.relu", net.batch_norm("conv1.bn", x, {.epsilon = 1e-3}));
  x = basic(net, "conv2", pool(net, "maxpool1", x, 3, 2), 64, 1);
  x = pool(net, "maxpool2", basic(net, "conv3", x, 192, 3), 3, 2);
  x = inception(net, x, {"inception3a", 64, 96, 128, 16, 32, 32});
  x = inception(net, x, {"inception3b", 128, 128, 192, 32, 96, 64});
  x = pool(net, "maxpool3", x, 3, 2);
  x = inception(net, x, {"inception4a", 192, 96, 208, 16, 48, 64});
  x = inception(net, x, {"inception4b", 160, 112, 224, 24, 64, 64});
  x = inception(net, x, {"inception4c", 128, 128, 256, 24, 64, 64});
  x = inception(net, x, {"inception4d", 112, 144, 288, 32, 64, 64});
  x = inception(net, x, {"inception4e", 256, 160, 320, 32, 128, 128});
  x = pool(net, "maxpool4", x, 2, 2);
  x = inception(net, x, {"inception5a", 256, 160, 320, 32, 128, 128});
  x = inception(net, x, {"inception5b", 384, 192, 384, 48, 128, 128});
  x = dropout(net, "dropout", net.global_average_pool("avgpool", x), 0.2);
  x = net.linear("fc", x, options.classes, {.init = Init::kNormal001});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
