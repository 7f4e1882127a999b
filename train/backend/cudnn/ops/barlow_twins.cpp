#include "train/backend/lower/barlow_twins.h"

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {

void barlow_twins(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().barlow_twins, barlow_twins_arguments(lowering, node));
}

void barlow_twins_backward(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().barlow_twins_backward,
                  barlow_twins_backward_arguments(lowering, node));
}

}  // namespace winnow::train::cudnn::ops
