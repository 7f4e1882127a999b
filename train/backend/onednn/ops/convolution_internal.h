#pragma once

#include "train/backend/onednn/lowering_internal.h"
#include "train/ops/conv2d.h"

// Shared by plain and grouped convolutions.
namespace winnow::train::onednn::ops {

struct Convolution {
  const char* op;  // name in KernelChoices, such as "conv2d"
  Pass pass;
  ConvAttributes attributes;
};
void emit_convolution(OneDnnLowering& lowering, const Node& node, const Convolution& convolution);

}  // namespace winnow::train::onednn::ops
