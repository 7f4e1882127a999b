#pragma once

#include "train/backend/cudnn/lowering.h"
#include "train/ops/conv2d.h"

// Description of a convolution node, shared by plain and grouped convolutions.
namespace winnow::train::cudnn::ops {

struct Convolution {
  const char* op;  // name of the operation in KernelChoices, such as "conv2d"
  Pass pass;
  ConvAttributes attributes;
};
void emit_convolution(CudnnLowering& lowering, const Node& node, const Convolution& convolution);

}  // namespace winnow::train::cudnn::ops
