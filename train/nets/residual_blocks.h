#pragma once

#include <array>
#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// What residual nets are made of (He et al., CVPR 2016). Layers are named as torchvision names
// those of its ResNets. Where a block changes the shape, its shortcut is a 1x1 convolution with
// batch norm.

// A convolution without bias and its batch norm.
ValueId conv_norm(NetBuilder& net, const std::string& conv, const std::string& norm, ValueId x,
                  const NetBuilder::Conv& shape);

// A block named `name`: what it computes from x, with the stride given.
using ResidualBlock = ValueId (*)(NetBuilder& net, const std::string& name, ValueId x,
                                  std::int64_t width, int stride);

// Two 3x3 convolutions beside a shortcut.
ValueId basic_block(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                    int stride);

// A 1x1 convolution down to `width`, a 3x3 one, and a 1x1 one up to four times it, beside a
// shortcut. The 3x3 convolution strides, as torchvision has it ("v1.5").
ValueId bottleneck(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                   int stride);

// The same with a 3x3 convolution of `inner` channels in `groups` groups (Xie et al. 2017,
// Zagoruyko and Komodakis 2016).
struct BottleneckWidth {
  std::int64_t inner = 64;  // channels of the 3x3 convolution
  int groups = 1;
};
ValueId bottleneck_of(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                      int stride, const BottleneckWidth& shape);

// A ResNet for small images (section 4.2): a 3x3 stem, three stages of so many basic blocks, widths
// 16 to 64.
Graph make_small_resnet(const NetOptions& options, int blocks);

// A ResNet for ImageNet (section 4.1): a 7x7 stem, four stages of so many blocks, widths 64 to 512.
Graph make_imagenet_resnet(const NetOptions& options, const std::array<int, 4>& blocks,
                           ResidualBlock block);

}  // namespace winnow::train
