#include "train/nets/deep_resnets.h"

#include "train/nets/residual_blocks.h"

namespace winnow::train {
namespace {

// 32 groups, with 4 channels each in the first stage.
ValueId resnext_block(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                      int stride) {
  return bottleneck_of(net, name, x, width, stride, {.inner = 2 * width, .groups = 32});
}

ValueId wide_block(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                   int stride) {
  return bottleneck_of(net, name, x, width, stride, {.inner = 2 * width});
}

}  // namespace

Graph make_resnet101(const NetOptions& options) {
  return make_imagenet_resnet(options, {3, 4, 23, 3}, bottleneck);
}

Graph make_resnet152(const NetOptions& options) {
  return make_imagenet_resnet(options, {3, 8, 36, 3}, bottleneck);
}

Graph make_resnext50_32x4d(const NetOptions& options) {
  return make_imagenet_resnet(options, {3, 4, 6, 3}, resnext_block);
}

Graph make_wide_resnet50_2(const NetOptions& options) {
  return make_imagenet_resnet(options, {3, 4, 6, 3}, wide_block);
}

}  // namespace winnow::train
