#include "train/nets/convnext.h"

#include <string>
#include <utility>

#include "train/nets/activation.h"
#include "train/nets/dropout.h"
#include "train/nets/grouped_conv.h"
#include "train/nets/layer_norm.h"
#include "train/nets/pointwise.h"
#include "train/ops/scale.h"

namespace winnow::train {
namespace {

struct Stage {
  std::int64_t width;
  int blocks;
};
constexpr Stage kStages[] = {{96, 3}, {192, 3}, {384, 9}, {768, 3}};
constexpr int kBlocks = 18;
constexpr double kDropPath = 0.1;  // of the last block; less before
constexpr double kEpsilon = 1e-6;

NetBuilder::Conv conv_of(std::int64_t filters, int kernel) {
  return {.filters = filters,
          .kernel = kernel,
          .stride = kernel,
          .bias = true,
          .init = Init::kNormal002,
          .bias_init = Init::kZeros};
}

ValueId block(NetBuilder& net, const std::string& name, ValueId x, double drop_rate) {
  const std::int64_t width = net.channels(x);
  const NetBuilder::Linear normal = {.init = Init::kNormal002, .bias_init = Init::kZeros};
  NetBuilder::Conv depthwise = conv_of(width, 7);
  depthwise.stride = 1;
  depthwise.pad = 3;
  ValueId y = grouped_conv(net, name + ".block.0", x, depthwise, static_cast<int>(width));
  y = layer_norm(net, name + ".block.2", y, kEpsilon);
  y = pointwise(net, name + ".block.3", y, 4 * width, normal);
  y = activation(net, name + ".block.4", y, ActivationKind::kGelu);
  y = pointwise(net, name + ".block.5", y, width, normal);
  const ValueId factor = net.weight(name + ".layer_scale", {width, 1, 1}, Init::kMillionth);
  y = net.add_layer(kScale, name + ".scale", {y, factor});
  return net.add(name + ".add", x, drop_path(net, name + ".stochastic_depth", y, drop_rate));
}

}  // namespace

Graph make_convnext_tiny(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = net.conv("features.0.0", net.image(), conv_of(kStages[0].width, 4));
  x = layer_norm(net, "features.0.1", x, kEpsilon);
  int place = 1;
  int number = 0;
  for (const Stage& stage : kStages) {
    if (stage.width != net.channels(x)) {
      const std::string name = "features." + std::to_string(place++);
      x = net.conv(name + ".1", layer_norm(net, name + ".0", x, kEpsilon), conv_of(stage.width, 2));
    }
    const std::string name = "features." + std::to_string(place++);
    for (int i = 0; i < stage.blocks; ++i) {
      x = block(net, name + "." + std::to_string(i), x, kDropPath * number++ / (kBlocks - 1));
    }
  }
  x = layer_norm(net, "classifier.0", net.global_average_pool("avgpool", x), kEpsilon);
  x = net.linear("classifier.2", x, options.classes,
                 {.init = Init::kNormal002, .bias_init = Init::kZeros});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
