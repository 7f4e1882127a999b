#include "train/nets/resnet.h"

#include "train/nets/residual_blocks.h"

namespace winnow::train {

Graph make_resnet20(const NetOptions& options) { return make_small_resnet(options, 3); }

Graph make_resnet50(const NetOptions& options) {
  return make_imagenet_resnet(options, {3, 4, 6, 3}, bottleneck);
}

}  // namespace winnow::train
