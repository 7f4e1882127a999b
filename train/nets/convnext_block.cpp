#include "train/nets/convnext_block.h"

#include "train/nets/activation.h"
#include "train/nets/dropout.h"
#include "train/nets/grouped_conv.h"
#include "train/nets/layer_norm.h"
#include "train/nets/pointwise.h"
#include "train/ops/scale.h"

namespace winnow::train {

ValueId convnext_block(NetBuilder& net, const std::string& name, ValueId x, double drop_rate) {
  const std::int64_t width = net.channels(x);
  const NetBuilder::Linear normal = {.init = Init::kNormal002, .bias_init = Init::kZeros};
  const NetBuilder::Conv depthwise = {.filters = width,
                                      .kernel = 7,
                                      .pad = 3,
                                      .bias = true,
                                      .init = Init::kNormal002,
                                      .bias_init = Init::kZeros};
  ValueId y = grouped_conv(net, name + ".block.0", x, depthwise, static_cast<int>(width));
  y = layer_norm(net, name + ".block.2", y, kConvnextEpsilon);
  y = pointwise(net, name + ".block.3", y, 4 * width, normal);
  y = activation(net, name + ".block.4", y, ActivationKind::kGelu);
  y = pointwise(net, name + ".block.5", y, width, normal);
  const ValueId factor = net.weight(name + ".layer_scale", {width, 1, 1}, Init::kMillionth);
  y = net.add_layer(kScale, name + ".scale", {y, factor});
  return net.add(name + ".add", x, drop_path(net, name + ".stochastic_depth", y, drop_rate));
}

}  // namespace winnow::train
