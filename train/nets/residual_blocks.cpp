#include "train/nets/residual_blocks.h"

#include <utility>

#include "train/nets/grouped_conv.h"

namespace winnow::train {
namespace {

// The sum of y and the shortcut from x, followed by a ReLU.
ValueId joined(NetBuilder& net, const std::string& name, ValueId x, ValueId y,
               const std::string& relu, int stride) {
  const std::int64_t filters = net.channels(y);
  ValueId shortcut = x;
  if (stride != 1 || net.channels(x) != filters) {
    shortcut = conv_norm(net, name + ".downsample.0", name + ".downsample.1", x,
                         {.filters = filters, .stride = stride});
  }
  return net.relu(name + relu, net.add(name + ".add", y, shortcut));
}

}  // namespace

ValueId conv_norm(NetBuilder& net, const std::string& conv, const std::string& norm, ValueId x,
                  const NetBuilder::Conv& shape) {
  return net.batch_norm(norm, net.conv(conv, x, shape));
}

ValueId basic_block(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                    int stride) {
  ValueId y = conv_norm(net, name + ".conv1", name + ".bn1", x,
                        {.filters = width, .kernel = 3, .stride = stride, .pad = 1});
  y = net.relu(name + ".relu1", y);
  y = conv_norm(net, name + ".conv2", name + ".bn2", y, {.filters = width, .kernel = 3, .pad = 1});
  return joined(net, name, x, y, ".relu2", stride);
}

ValueId bottleneck(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                   int stride) {
  return bottleneck_of(net, name, x, width, stride, {.inner = width});
}

ValueId bottleneck_of(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                      int stride, const BottleneckWidth& shape) {
  ValueId y = conv_norm(net, name + ".conv1", name + ".bn1", x, {.filters = shape.inner});
  y = net.relu(name + ".relu1", y);
  y = conv_in_groups(net, name + ".conv2", y,
                     {.filters = shape.inner, .kernel = 3, .stride = stride, .pad = 1},
                     shape.groups);
  y = net.relu(name + ".relu2", net.batch_norm(name + ".bn2", y));
  y = conv_norm(net, name + ".conv3", name + ".bn3", y, {.filters = 4 * width});
  return joined(net, name, x, y, ".relu3", stride);
}

Graph make_small_resnet(const NetOptions& options, int blocks) {
  NetBuilder net(options);
  ValueId x = conv_norm(net, "conv1", "bn1", net.image(), {.filters = 16, .kernel = 3, .pad = 1});
  x = net.relu("relu", x);
  for (int stage = 1; stage <= 3; ++stage) {
    for (int block = 0; block < blocks; ++block) {
      const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
      x = basic_block(net, name, x, std::int64_t{8} << stage, stage > 1 && block == 0 ? 2 : 1);
    }
  }
  x = net.global_average_pool("avgpool", x);
  x = net.linear("fc", x, options.classes);
  return std::move(net).finish(x);
}

Graph make_imagenet_resnet(const NetOptions& options, const std::array<int, 4>& blocks,
                           ResidualBlock block) {
  NetBuilder net(options);
  ValueId x = conv_norm(net, "conv1", "bn1", net.image(),
                        {.filters = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = net.max_pool("maxpool", net.relu("relu", x), 3, 2, 1);
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    for (int i = 0; i < blocks[stage]; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      x = block(net, name, x, std::int64_t{64} << stage, stage > 0 && i == 0 ? 2 : 1);
    }
  }
  x = net.global_average_pool("avgpool", x);
  x = net.linear("fc", x, options.classes);
  return std::move(net).finish(x);
}

}  // namespace winnow::train
