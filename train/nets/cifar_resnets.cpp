#include "train/nets/cifar_resnets.h"

#include "train/nets/residual_blocks.h"

namespace winnow::train {

// A net of 6 n + 2 layers has n blocks in each stage.
Graph make_resnet32(const NetOptions& options) { return make_small_resnet(options, 5); }
Graph make_resnet44(const NetOptions& options) { return make_small_resnet(options, 7); }
Graph make_resnet56(const NetOptions& options) { return make_small_resnet(options, 9); }
Graph make_resnet110(const NetOptions& options) { return make_small_resnet(options, 18); }

}  // namespace winnow::train
