#include "train/nets/regnet.h"

#include <cmath>
#include <string>
#include <utility>

#include "train/nets/grouped_conv.h"
#include "train/nets/inverted_residual.h"
#include "train/nets/squeeze_excite.h"

namespace winnow::train {
namespace {

struct RegnetStage {
  int width, blocks;
};
constexpr RegnetStage kRegnetStages[] = {{48, 1}, {104, 3}, {208, 6}, {440, 6}};
constexpr int kGroupWidth = 8;

ValueId regnet_relu(NetBuilder& net, const std::string& name, ValueId x) {
  return net.relu(name, x);
}

// Squeezes to a quarter of the block's input channels.
ValueId block(NetBuilder& net, const std::string& name, ValueId x, int width, int stride) {
  const auto squeezed =
      static_cast<std::int64_t>(std::nearbyint(0.25 * static_cast<double>(net.channels(x))));
  ValueId y =
      conv_norm_activation(net, name + ".f.a", x, {{.filters = width}, 1, 1e-5, regnet_relu});
  y = grouped_conv(net, name + ".f.b.0", y,
                   {.filters = width, .kernel = 3, .stride = stride, .pad = 1},
                   width / kGroupWidth);
  y = net.relu(name + ".f.b.2", net.batch_norm(name + ".f.b.1", y));
  y = squeeze_excite(net, name + ".f.se", y,
                     {.squeezed = squeezed, .bias_init = Init::kUniformFanIn});
  y = conv_norm_activation(net, name + ".f.c", y, {{.filters = width}});
  if (stride != 1 || net.channels(x) != width) {
    x = conv_norm_activation(net, name + ".proj", x, {{.filters = width, .stride = stride}});
  }
  return net.relu(name + ".activation", net.add(name + ".add", x, y));
}

}  // namespace

Graph make_regnet_y_400mf(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = conv_norm_activation(
      net, "stem", net.image(),
      {{.filters = 32, .kernel = 3, .stride = 2, .pad = 1}, 1, 1e-5, regnet_relu});
  int number = 0;
  for (const RegnetStage& stage : kRegnetStages) {
    const std::string name = "trunk_output.block" + std::to_string(++number);
    for (int i = 0; i < stage.blocks; ++i) {
      x = block(net, name + ".block" + std::to_string(number) + "-" + std::to_string(i), x,
                stage.width, i == 0 ? 2 : 1);
    }
  }
  x = net.linear("fc", net.global_average_pool("avgpool", x), options.classes,
                 {.init = Init::kNormal001, .bias_init = Init::kZeros});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
