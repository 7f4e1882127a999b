#include "train/nets/resnet50v2.h"

#include <string>
#include <utility>

#include "train/nets/preactivation.h"

namespace winnow::train {

Graph make_resnet50v2(const NetOptions& options) {
  constexpr int kBlocks[] = {3, 4, 6, 3};
  NetBuilder net(options);
  ValueId x = net.conv("conv1", net.image(), {.filters = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = net.max_pool("maxpool", x, 3, 2, 1);
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < kBlocks[stage]; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      x = preactivated_bottleneck(net, name, x, std::int64_t{64} << stage,
                                  stage > 0 && i == 0 ? 2 : 1);
    }
  }
  x = net.relu("relu", net.batch_norm("norm", x));
  x = net.linear("fc", net.global_average_pool("avgpool", x), options.classes);
  return std::move(net).finish(x);
}

}  // namespace winnow::train
