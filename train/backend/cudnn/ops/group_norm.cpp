#include "train/backend/lower/group_norm.h"

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {

void group_norm(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(
      lowering.table().group_norm,
      group_norm_arguments(lowering, node, group_norm_layer(lowering, node), std::nullopt));
}

void group_norm_backward(CudnnLowering& lowering, const Node& node) {
  const ImageExtents x = image_extents(lowering.value(node.inputs[0]).shape);
  lowering.kernel(lowering.table().group_norm_backward,
                  group_norm_backward_arguments(lowering, node, group_norm_layer(lowering, node),
                                                lowering.sums_scratch(x)));
}

}  // namespace winnow::train::cudnn::ops
