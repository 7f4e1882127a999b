#include "train/nets/alexnet.h"

#include <string>
#include <utility>

#include "train/nets/adaptive_pool.h"
#include "train/nets/dropout.h"

namespace winnow::train {

Graph make_alexnet(const NetOptions& options) {
  NetBuilder net(options);
  int place = 0;
  const auto next = [&] { return "features." + std::to_string(place++); };
  ValueId x = net.image();
  const auto conv = [&](std::int64_t filters, int kernel, int stride, int pad) {
    x = net.conv(next(), x,
                 {.filters = filters,
                  .kernel = kernel,
                  .stride = stride,
                  .pad = pad,
                  .bias = true,
                  .init = Init::kUniformFanIn});
    x = net.relu(next(), x);
  };
  const auto pool = [&] { x = net.max_pool(next(), x, 3, 2); };
  conv(64, 11, 4, 2);
  pool();
  conv(192, 5, 1, 2);
  pool();
  conv(384, 3, 1, 1);
  conv(256, 3, 1, 1);
  conv(256, 3, 1, 1);
  pool();
  x = dropout(net, "classifier.0", adaptive_average_pool(net, "avgpool", x, 6), 0.5);
  x = net.relu("classifier.2", net.linear("classifier.1", x, 4096));
  x = dropout(net, "classifier.3", x, 0.5);
  x = net.relu("classifier.5", net.linear("classifier.4", x, 4096));
  x = net.linear("classifier.6", x, options.classes);
  return std::move(net).finish(x);
}

}  // namespace winnow::train
