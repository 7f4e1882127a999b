#include "train/nets/mobilenet_v3.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "train/nets/activation.h"
#include "train/nets/dropout.h"
#include "train/nets/inverted_residual.h"

namespace winnow::train {
namespace {

constexpr double kEpsilon = 1e-3;

struct Bottleneck {
  int kernel, widened, filters;
  bool squeezes, swishes;
  int stride;
};
constexpr Bottleneck kLarge[] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
    {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
    {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
    {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1}};
constexpr Bottleneck kSmall[] = {
    {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
    {5, 96, 40, true, true, 2},  {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
    {5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1},  {5, 288, 96, true, true, 2},
    {5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1}};

ValueId hard_swish(NetBuilder& net, const std::string& name, ValueId x) {
  return activation(net, name, x, ActivationKind::kHardSwish);
}
ValueId relu(NetBuilder& net, const std::string& name, ValueId x) { return net.relu(name, x); }

// A multiple of 8 near a quarter of `widened`, at most a tenth smaller than the quarter.
std::int64_t squeezed(int widened) {
  const int quarter = widened / 4;
  const int rounded = std::max(8, (quarter + 4) / 8 * 8);
  return 10 * rounded < 9 * quarter ? rounded + 8 : rounded;
}

InvertedResidual shape_of(const Bottleneck& block) {
  InvertedResidual shape;
  shape.widened = block.widened;
  shape.filters = block.filters;
  shape.kernel = block.kernel;
  shape.stride = block.stride;
  shape.epsilon = kEpsilon;
  shape.activate = block.swishes ? Activate(hard_swish) : Activate(relu);
  if (block.squeezes) {
    shape.squeeze = SqueezeExcite{.squeezed = squeezed(block.widened),
                                  .of_factor = ActivationKind::kHardSigmoid};
  }
  return shape;
}

// `hidden` is the number of features of the first linear layer.
Graph make(const NetOptions& options, std::span<const Bottleneck> blocks, std::int64_t hidden) {
  NetBuilder net(options);
  int place = 0;
  const auto next = [&] { return "features." + std::to_string(place++); };
  ValueId x = conv_norm_activation(
      net, next(), net.image(),
      {{.filters = 16, .kernel = 3, .stride = 2, .pad = 1}, 1, kEpsilon, hard_swish});
  for (const Bottleneck& block : blocks) {
    x = inverted_residual(net, next() + ".block", x, shape_of(block));
  }
  x = conv_norm_activation(net, next(), x,
                           {{.filters = 6 * net.channels(x)}, 1, kEpsilon, hard_swish});
  const NetBuilder::Linear normal = {.init = Init::kNormal001, .bias_init = Init::kZeros};
  x = net.linear("classifier.0", net.global_average_pool("avgpool", x), hidden, normal);
  x = dropout(net, "classifier.2", hard_swish(net, "classifier.1", x), 0.2);
  x = net.linear("classifier.3", x, options.classes, normal);
  return std::move(net).finish(x);
}

}  // namespace

Graph make_mobilenet_v3_large(const NetOptions& options) { return make(options, kLarge, 1280); }
Graph make_mobilenet_v3_small(const NetOptions& options) { return make(options, kSmall, 1024); }

}  // namespace winnow::train
