#pragma once

#include <array>
#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Blocks of residual nets (He et al., CVPR 2016). Layers are named as in torchvision's ResNets. If
// a block changes the shape, its shortcut is a 1x1 convolution with batch norm.

// A convolution without bias, followed by batch norm.
ValueId conv_norm(NetBuilder& net, const std::string& conv, const std::string& norm, ValueId x,
                  const NetBuilder::Conv& shape);

// Adds a block named `name` with this stride to x, and returns its output.
using ResidualBlock = ValueId (*)(NetBuilder& net, const std::string& name, ValueId x,
                                  std::int64_t width, int stride);

// Two 3x3 convolutions and a shortcut.
ValueId basic_block(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                    int stride);

// Convolutions 1x1 down to `width`, 3x3, and 1x1 up to four times `width`; and a shortcut. The 3x3
// convolution has the stride, as in torchvision ("v1.5").
ValueId bottleneck(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                   int stride);

// As bottleneck(), with a 3x3 convolution of `inner` channels in `groups` groups (Xie et al. 2017,
// Zagoruyko and Komodakis 2016).
struct BottleneckWidth {
  std::int64_t inner = 64;  // channels of the 3x3 convolution
  int groups = 1;
};
ValueId bottleneck_of(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                      int stride, const BottleneckWidth& shape);

// A ResNet for small images (section 4.2): a 3x3 stem, and three stages of `blocks` basic blocks
// with widths 16 to 64.
Graph make_small_resnet(const NetOptions& options, int blocks);

// A ResNet for ImageNet (section 4.1): a 7x7 stem, and four stages of the given numbers of blocks
// with widths 64 to 512.
Graph make_imagenet_resnet(const NetOptions& options, const std::array<int, 4>& blocks,
                           ResidualBlock block);

}  // namespace winnow::train
