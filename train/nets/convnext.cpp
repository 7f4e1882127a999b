#include "train/nets/convnext.h"

#include <string>
#include <utility>

#include "train/nets/convnext_block.h"
#include "train/nets/layer_norm.h"

namespace winnow::train {
namespace {

struct Stage {
  std::int64_t width;
  int blocks;
};
constexpr Stage kStages[] = {{96, 3}, {192, 3}, {384, 9}, {768, 3}};
constexpr int kBlocks = 18;
constexpr double kDropPath = 0.1;  // for the last block; smaller for earlier ones

NetBuilder::Conv conv_of(std::int64_t filters, int kernel) {
  return {.filters = filters,
          .kernel = kernel,
          .stride = kernel,
          .bias = true,
          .init = Init::kNormal002,
          .bias_init = Init::kZeros};
}

}  // namespace

Graph make_convnext_tiny(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = net.conv("features.0.0", net.image(), conv_of(kStages[0].width, 4));
  x = layer_norm(net, "features.0.1", x, kConvnextEpsilon);
  int place = 1;
  int number = 0;
  for (const Stage& stage : kStages) {
    if (stage.width != net.channels(x)) {
      const std::string name = "features." + std::to_string(place++);
      x = net.conv(name + ".1", layer_norm(net, name + ".0", x, kConvnextEpsilon),
                   conv_of(stage.width, 2));
    }
    const std::string name = "features." + std::to_string(place++);
    for (int i = 0; i < stage.blocks; ++i) {
      x = convnext_block(net, name + "." + std::to_string(i), x,
                         kDropPath * number++ / (kBlocks - 1));
    }
  }
  x = layer_norm(net, "classifier.0", net.global_average_pool("avgpool", x), kConvnextEpsilon);
  x = net.linear("classifier.2", x, options.classes,
                 {.init = Init::kNormal002, .bias_init = Init::kZeros});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
