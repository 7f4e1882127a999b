#include "train/nets/alexnet_lrn.h"

#include <string>
#include <utility>

#include "train/nets/adaptive_pool.h"
#include "train/nets/dropout.h"
#include "train/nets/local_response_norm.h"

namespace winnow::train {

Graph make_alexnet_lrn(const NetOptions& options) {
  // The paper multiplies the sum by 1e-4, PyTorch the mean over five channels.
  constexpr LocalResponseNormAttributes kNorm{.size = 5, .alpha = 5e-4, .beta = 0.75, .k = 2};
  NetBuilder net(options);
  ValueId x = net.image();
  int place = 0;
  const auto next = [&] { return "features." + std::to_string(place++); };
  const auto conv = [&](NetBuilder::Conv layer, Init bias) {
    layer.bias = true;
    layer.init = Init::kNormal001;
    layer.bias_init = bias;
    x = net.conv(next(), x, layer);
    x = net.relu(next(), x);
  };
  const auto norm = [&] { x = local_response_norm(net, next(), x, kNorm); };
  const auto pool = [&] { x = net.max_pool(next(), x, 3, 2); };
  conv({.filters = 96, .kernel = 11, .stride = 4, .pad = 2}, Init::kZeros);
  norm();
  pool();
  conv({.filters = 256, .kernel = 5, .pad = 2}, Init::kOnes);
  norm();
  pool();
  conv({.filters = 384, .kernel = 3, .pad = 1}, Init::kZeros);
  conv({.filters = 384, .kernel = 3, .pad = 1}, Init::kOnes);
  conv({.filters = 256, .kernel = 3, .pad = 1}, Init::kOnes);
  pool();
  const NetBuilder::Linear hidden = {.init = Init::kNormal001, .bias_init = Init::kOnes};
  x = dropout(net, "classifier.0", adaptive_average_pool(net, "avgpool", x, 6), 0.5);
  x = net.relu("classifier.2", net.linear("classifier.1", x, 4096, hidden));
  x = dropout(net, "classifier.3", x, 0.5);
  x = net.relu("classifier.5", net.linear("classifier.4", x, 4096, hidden));
  x = net.linear("classifier.6", x, options.classes,
                 {.init = Init::kNormal001, .bias_init = Init::kZeros});
  return std::move(net).finish(x);
}

}  // namespace winnow::train
