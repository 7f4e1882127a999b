#include "train/nets/resnet.h"

#include <string>
#include <utility>

#include "train/nets/residual_blocks.h"

namespace winnow::train {

Graph make_resnet20(const NetOptions& options) {
  NetBuilder net(options);
  ValueId x = conv_norm(net, "conv1", "bn1", net.image(), {.filters = 16, .kernel = 3, .pad = 1});
  x = net.relu("relu", x);
  for (int stage = 1; stage <= 3; ++stage) {
    for (int block = 0; block < 3; ++block) {
      const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
      x = basic_block(net, name, x, std::int64_t{8} << stage, stage > 1 && block == 0 ? 2 : 1);
    }
  }
  x = net.global_average_pool("avgpool", x);
  x = net.linear("fc", x, options.classes);
  return std::move(net).finish(x);
}

Graph make_resnet50(const NetOptions& options) {
  return make_imagenet_resnet(options, {3, 4, 6, 3}, bottleneck);
}

}  // namespace winnow::train
