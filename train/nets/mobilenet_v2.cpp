#include "train/nets/mobilenet_v2.h"

#include <string>
#include <utility>

#include "train/nets/activation.h"
#include "train/nets/dropout.h"
#include "train/nets/inverted_residual.h"

namespace winnow::train {
namespace {

struct MobileStage {
  int widen, filters, blocks, stride;
};
constexpr MobileStage kMobileStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                                         {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                                         {6, 320, 1, 1}};

ValueId relu6(NetBuilder& net, const std::string& name, ValueId x) {
  return activation(net, name, x, ActivationKind::kRelu6);
}

ValueId block(NetBuilder& net, const std::string& name, ValueId x, const MobileStage& stage,
              int stride) {
  return inverted_residual(net, name + ".conv", x,
                           {.widened = stage.widen * net.channels(x),
                            .filters = stage.filters,
                            .stride = stride,
                            .activate = relu6,
                            .flat = true});
}

}  // namespace

Graph make_mobilenet_v2(const NetOptions& options) {
  NetBuilder net(options);
  int place = 0;
  const auto next = [&] { return "features." + std::to_string(place++); };
  ValueId x =
      conv_norm_activation(net, next(), net.image(),
                           {{.filters = 32, .kernel = 3, .stride = 2, .pad = 1}, 1, 1e-5, relu6});
  for (const MobileStage& stage : kMobileStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      x = block(net, next(), x, stage, i == 0 ? stage.stride : 1);
    }
  }
  x = conv_norm_activation(net, next(), x, {{.filters = 1280}, 1, 1e-5, relu6});
  x = dropout(net, "classifier.0", net.global_average_pool("avgpool", x), 0.2);
  x = net.linear("classifier.1", x, options.classes,
                 {.init = Init::kNormal001, .bias_init = Init::kZeros});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
