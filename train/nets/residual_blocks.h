#pragma once

#include <array>
#include <string>

#include "train/nets/builder.h"

namespace winnow::train {

// Blocks of residual nets (He et al., CVPR 2016). Layers are named as in torchvision's ResNets. If
// a block changes the shape, its shortcut is a 1x1 convolution with batch norm.

// Adds a convolution without bias, followed by batch norm.
ValueId conv_norm(NetBuilder& net, const std::string& conv, const std::string& norm, ValueId x,
                  const NetBuilder::Conv& shape);

// Function that adds a block named `name` to x, and returns its output. `stride`: that of the
// block.
using ResidualBlock = ValueId (*)(NetBuilder& net, const std::string& name, ValueId x,
                                  std::int64_t width, int stride);

// Adds a block of two 3x3 convolutions and a shortcut.
ValueId basic_block(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                    int stride);

// Adds a bottleneck block: convolutions 1x1 down to `width`, 3x3, and 1x1 up to four times `width`;
// and a shortcut. The 3x3 convolution has the stride, as in torchvision ("v1.5").
ValueId bottleneck(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                   int stride);

// Shape of the 3x3 convolution in a bottleneck block of ResNeXt or Wide ResNet (Xie et al. 2017,
// Zagoruyko and Komodakis 2016).
struct BottleneckWidth {
  std::int64_t inner = 64;  // number of channels of the 3x3 convolution
  int groups = 1;
};
ValueId bottleneck_of(NetBuilder& net, const std::string& name, ValueId x, std::int64_t width,
                      int stride, const BottleneckWidth& shape);

// Builds a ResNet for small images (section 4.2 of the paper): a 3x3 convolution, and three stages
// of `blocks` basic blocks with widths 16, 32 and 64.
Graph make_small_resnet(const NetOptions& options, int blocks);

// Builds a ResNet for ImageNet (section 4.1 of the paper): a 7x7 convolution, and four stages with
// the given numbers of blocks and widths 64 to 512.
Graph make_imagenet_resnet(const NetOptions& options, const std::array<int, 4>& blocks,
                           ResidualBlock block);

}  // namespace winnow::train
