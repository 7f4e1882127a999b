#pragma once

#include "train/backend/cudnn/lowering.h"
#include "train/ops/conv2d.h"

// What the families of convolutions share.
namespace winnow::train::cudnn::ops {

struct Convolution {
  const char* op;  // "conv2d": what choices call it
  Pass pass;
  ConvAttributes attributes;
};
void emit_convolution(CudnnLowering& lowering, const Node& node, const Convolution& convolution);

}  // namespace winnow::train::cudnn::ops
