#include "train/backend/lower/layer_norm.h"

#include "train/backend/cudnn/ops/ops.h"
#include "train/backend/lower/layer.h"

namespace winnow::train::cudnn::ops {

void layer_norm(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().group_norm, layer_norm_arguments(lowering, node, std::nullopt));
}

void layer_norm_backward(CudnnLowering& lowering, const Node& node) {
  const ImageExtents x = image_extents(lowering.value(node.inputs[0]).shape);
  lowering.kernel(lowering.table().group_norm_backward,
                  layer_norm_backward_arguments(lowering, node, lowering.sums_scratch(x)));
}

}  // namespace winnow::train::cudnn::ops
