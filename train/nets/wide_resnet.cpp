#include "train/nets/wide_resnet.h"

#include <string>
#include <utility>

#include "train/nets/preactivation.h"

namespace winnow::train {
namespace {

// A net of 6 n + 4 layers has n blocks in each stage.
Graph make(const NetOptions& options, int blocks, std::int64_t widen) {
  NetBuilder net(options);
  ValueId x = net.conv("conv1", net.image(), {.filters = 16, .kernel = 3, .pad = 1});
  for (int stage = 1; stage <= 3; ++stage) {
    for (int block = 0; block < blocks; ++block) {
      const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(block);
      x = preactivated_basic_block(net, name, x, widen * (std::int64_t{8} << stage),
                                   stage > 1 && block == 0 ? 2 : 1);
    }
  }
  x = net.relu("relu", net.batch_norm("bn1", x));
  x = net.linear("fc", net.global_average_pool("avgpool", x), options.classes);
  return std::move(net).finish(x);
}

}  // namespace

Graph make_wrn16_4(const NetOptions& options) { return make(options, 2, 4); }
Graph make_wrn28_10(const NetOptions& options) { return make(options, 4, 10); }

}  // namespace winnow::train
