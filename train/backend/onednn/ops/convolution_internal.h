#pragma once

#include "train/backend/onednn/lowering_internal.h"
#include "train/ops/conv2d.h"

// What the families of convolutions share.
namespace winnow::train::onednn::ops {

struct Convolution {
  const char* op;  // "conv2d": what choices call it
  Pass pass;
  ConvAttributes attributes;
};
void emit_convolution(OneDnnLowering& lowering, const Node& node, const Convolution& convolution);

}  // namespace winnow::train::onednn::ops
