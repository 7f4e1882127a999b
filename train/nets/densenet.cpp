#include "train/nets/densenet.h"

#include <string>
#include <utility>

#include "train/nets/builder.h"
#include "train/ops/concat.h"
#include "train/ops/pooling.h"

namespace winnow::train {
namespace {

constexpr int kLayers[] = {6, 12, 24, 16};
constexpr std::int64_t kGrowth = 32;

NetBuilder::Conv dense_conv(std::int64_t filters, int kernel) {
  return {.filters = filters, .kernel = kernel, .pad = kernel / 2, .init = Init::kKaimingFanIn};
}

// Appends kGrowth new channels to those of x.
ValueId layer(NetBuilder& net, const std::string& name, ValueId x) {
  ValueId y = net.relu(name + ".relu1", net.batch_norm(name + ".norm1", x));
  y = net.conv(name + ".conv1", y, dense_conv(4 * kGrowth, 1));
  y = net.relu(name + ".relu2", net.batch_norm(name + ".norm2", y));
  y = net.conv(name + ".conv2", y, dense_conv(kGrowth, 3));
  return net.add_layer(kConcat, name + ".concat", {x, y});
}

// Halves the channels and both sides.
ValueId transition(NetBuilder& net, const std::string& name, ValueId x) {
  x = net.relu(name + ".relu", net.batch_norm(name + ".norm", x));
  x = net.conv(name + ".conv", x, dense_conv(net.channels(x) / 2, 1));
  PoolAttributes halves;
  halves.kernel_h = halves.kernel_w = halves.stride = 2;
  return net.add_layer(kAvgPool, name + ".pool", {x}, halves);
}

}  // namespace

Graph make_densenet121(const NetOptions& options) {
  NetBuilder net(options);
  NetBuilder::Conv stem = dense_conv(64, 7);
  stem.stride = 2;
  ValueId x = net.conv("features.conv0", net.image(), stem);
  x = net.relu("features.relu0", net.batch_norm("features.norm0", x));
  x = net.max_pool("features.pool0", x, 3, 2, 1);
  for (int block = 1; block <= 4; ++block) {
    const std::string name = "features.denseblock" + std::to_string(block);
    for (int i = 1; i <= kLayers[block - 1]; ++i) {
      x = layer(net, name + ".denselayer" + std::to_string(i), x);
    }
    if (block < 4) x = transition(net, "features.transition" + std::to_string(block), x);
  }
  x = net.relu("relu", net.batch_norm("features.norm5", x));
  x = net.linear("classifier", net.global_average_pool("avgpool", x), options.classes,
                 {.bias_init = Init::kZeros});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
