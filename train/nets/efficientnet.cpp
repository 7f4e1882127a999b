#include "train/nets/efficientnet.h"

#include <algorithm>
#include <string>
#include <utility>

#include "train/nets/activation.h"
#include "train/nets/dropout.h"
#include "train/nets/inverted_residual.h"

namespace winnow::train {
namespace {

struct EfficientStage {
  int widen, kernel, stride, filters, blocks;
};
constexpr EfficientStage kEfficientStages[] = {
    {1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
    {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
constexpr int kEfficientBlocks = 16;
constexpr double kEfficientDropPath = 0.2;  // for a block after the last; smaller for earlier ones

ValueId silu(NetBuilder& net, const std::string& name, ValueId x) {
  return activation(net, name, x, ActivationKind::kSilu);
}

// Squeezes to a quarter of the block's input channels.
InvertedResidual shape_of(const EfficientStage& stage, std::int64_t channels, int stride,
                          int number) {
  InvertedResidual shape;
  shape.widened = stage.widen * channels;
  shape.filters = stage.filters;
  shape.kernel = stage.kernel;
  shape.stride = stride;
  shape.drop_path = kEfficientDropPath * number / kEfficientBlocks;
  shape.activate = silu;
  shape.squeeze = SqueezeExcite{.squeezed = std::max<std::int64_t>(1, channels / 4),
                                .between = ActivationKind::kSilu,
                                .of_factor = ActivationKind::kSigmoid};
  return shape;
}

}  // namespace

Graph make_efficientnet_b0(const NetOptions& options) {
  NetBuilder net(options);
  int place = 0;
  const auto next = [&] { return "features." + std::to_string(place++); };
  ValueId x =
      conv_norm_activation(net, next(), net.image(),
                           {{.filters = 32, .kernel = 3, .stride = 2, .pad = 1}, 1, 1e-5, silu});
  int number = 0;
  for (const EfficientStage& stage : kEfficientStages) {
    const std::string name = next();
    for (int i = 0; i < stage.blocks; ++i) {
      const int stride = i == 0 ? stage.stride : 1;
      x = inverted_residual(net, name + "." + std::to_string(i) + ".block", x,
                            shape_of(stage, net.channels(x), stride, number++));
    }
  }
  x = conv_norm_activation(net, next(), x, {{.filters = 1280}, 1, 1e-5, silu});
  x = dropout(net, "classifier.0", net.global_average_pool("avgpool", x), 0.2);
  x = net.linear("classifier.1", x, options.classes,
                 {.init = Init::kUniformFanOut, .bias_init = Init::kZeros});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
