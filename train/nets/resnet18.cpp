#include "train/nets/resnet18.h"

#include "train/nets/residual_blocks.h"

namespace winnow::train {

Graph make_resnet18(const NetOptions& options) {
  return make_imagenet_resnet(options, {2, 2, 2, 2}, basic_block);
}

Graph make_resnet34(const NetOptions& options) {
  return make_imagenet_resnet(options, {3, 4, 6, 3}, basic_block);
}

}  // namespace winnow::train
