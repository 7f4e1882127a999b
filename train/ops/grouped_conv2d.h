#pragma once

#include "train/ops/conv2d.h"

namespace winnow::train {

// Grouped convolution: channels and filters are divided into G groups of adjacent ones. The filters
// of a group read only that group's channels. With as many groups as channels it is a depthwise
// convolution.
// Letters below: N samples, C input channels, K filters, H W input image, P Q output image, R S
// filter; [x] is optional.

struct GroupedConvAttributes : ConvAttributes {
  int groups = 1;  // number of groups; divides C and K
};

extern const Operation kGroupedConv2d;  // inputs x, w (K,C/G,R,S), [b (K)] -> y (N,K,P,Q)
extern const Operation kGroupedConv2dBackwardData;    // dy, w -> dx
extern const Operation kGroupedConv2dBackwardFilter;  // x, dy -> dw, and db if ConvAttributes::bias

}  // namespace winnow::train
