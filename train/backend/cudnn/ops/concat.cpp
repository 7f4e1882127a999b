#include "train/backend/lower/concat.h"

#include <utility>

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {

void concat(CudnnLowering& lowering, const Node& node) {
  for (auto& fill : concat_arguments(lowering, node)) {
    lowering.kernel(lowering.table().copy_channels, std::move(fill));
  }
}

void slice(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().copy_channels, slice_arguments(lowering, node));
}

}  // namespace winnow::train::cudnn::ops
