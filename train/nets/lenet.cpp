#include "train/nets/lenet.h"

#include <utility>

#include "train/nets/builder.h"

namespace winnow::train {

Graph make_lenet(const NetOptions& options) {
  NetBuilder net(options);
  const auto conv = [&](const char* name, ValueId x, std::int64_t filters) {
    return net.conv(name, x,
                    {.filters = filters, .kernel = 5, .bias = true, .init = Init::kUniformFanIn});
  };
  ValueId x = net.image();
  x = net.max_pool("pool1", conv("conv1", x, 20), 2, 2);
  x = net.max_pool("pool2", conv("conv2", x, 50), 2, 2);
  x = net.relu("relu1", net.linear("fc1", x, 500));
  x = net.linear("fc2", x, options.classes);
  return std::move(net).finish(x);
}

}  // namespace winnow::train
