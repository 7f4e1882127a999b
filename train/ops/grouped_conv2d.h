#pragma once

#include "train/ops/conv2d.h"

namespace winnow::train {

// Grouped convolution: channels and filters are cut into G groups of adjacent ones. The filters of
// a group read that group's channels. As many groups as channels: depthwise convolution.
// N batch, C K channels, H W image, P Q output image, R S kernel. [x]: optional.

struct GroupedConvAttributes : ConvAttributes {
  int groups = 1;  // divides C and K
};

extern const Operation kGroupedConv2d;                // x, w (K,C/G,R,S), [b (K)] -> y (N,K,P,Q)
extern const Operation kGroupedConv2dBackwardData;    // dy, w -> dx
extern const Operation kGroupedConv2dBackwardFilter;  // x, dy -> dw, [db], with bias

}  // namespace winnow::train
