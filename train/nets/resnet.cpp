#include "train/nets/resnet.h"

#include <array>
#include <string>
#include <utility>

#include "train/nets/builder.h"

namespace winnow::train {
namespace {

ValueId conv_norm(NetBuilder& net, const std::string& conv, const std::string& norm, ValueId x,
                  const NetBuilder::Conv& shape) {
  return net.batch_norm(norm, net.conv(conv, x, shape));
}

// Two 3x3 convolutions beside a shortcut.
ValueId basic_block(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                    int stride) {
  ValueId y = conv_norm(net, name + ".conv1", name + ".bn1", x,
                        {.filters = width, .kernel = 3, .stride = stride, .pad = 1});
  y = net.relu(name + ".relu1", y);
  y = conv_norm(net, name + ".conv2", name + ".bn2", y, {.filters = width, .kernel = 3, .pad = 1});
  ValueId shortcut = x;
  if (stride != 1 || net.channels(x) != width) {
    shortcut = conv_norm(net, name + ".downsample.0", name + ".downsample.1", x,
                         {.filters = width, .stride = stride});
  }
  return net.relu(name + ".relu2", net.add(name + ".add", y, shortcut));
}

// A 1x1 convolution down to `width`, a 3x3 one, and a 1x1 one up to four times it, beside a
// shortcut.
ValueId bottleneck(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                   int stride) {
  const std::int64_t out = 4 * width;
  ValueId y = conv_norm(net, name + ".conv1", name + ".bn1", x, {.filters = width});
  y = net.relu(name + ".relu1", y);
  y = conv_norm(net, name + ".conv2", name + ".bn2", y,
                {.filters = width, .kernel = 3, .stride = stride, .pad = 1});
  y = net.relu(name + ".relu2", y);
  y = conv_norm(net, name + ".conv3", name + ".bn3", y, {.filters = out});
  ValueId shortcut = x;
  if (stride != 1 || net.channels(x) != out) {
    shortcut = conv_norm(net, name + ".downsample.0", name + ".downsample.1", x,
                         {.filters = out, .stride = stride});
  }
  return net.relu(name + ".relu3", net.add(name + ".add", y, shortcut));
}

}  // namespace

Graph make_resnet20(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = conv_norm(net, "conv1", "bn1", net.image(), {.filters = 16, .kernel = 3, .pad = 1});
  x = net.relu("relu", x);
  for (int stage = 1; stage <= 3; ++stage) {
    for (int block = 0; block < 3; ++block) {
      const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
      x = basic_block(net, name, x, std::int64_t{8} << stage, stage > 1 && block == 0 ? 2 : 1);
    }
  }
  x = net.global_average_pool("avgpool", x);
  x = net.linear("fc", x, options.classes);
  return std::move(net).finish(x);
}

Graph make_resnet50(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = conv_norm(net, "conv1", "bn1", net.image(),
                        {.filters = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = net.max_pool("maxpool", net.relu("relu", x), 3, 2, 1);
  constexpr std::array kBlocks = {3, 4, 6, 3};
  for (int stage = 1; stage <= 4; ++stage) {
    for (int block = 0; block < kBlocks[static_cast<std::size_t>(stage - 1)]; ++block) {
      const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
      x = bottleneck(net, name, x, std::int64_t{32} << stage, stage > 1 && block == 0 ? 2 : 1);
    }
  }
  x = net.global_average_pool("avgpool", x);
  x = net.linear("fc", x, options.classes);
  return std::move(net).finish(x);
}

}  // namespace winnow::train
