#include "train/backend/lower/dropout.h"

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {

void dropout(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().dropout, dropout_arguments(lowering, node));
}

}  // namespace winnow::train::cudnn::ops
