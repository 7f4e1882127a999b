#include "train/backend/lower/scale.h"

#include "train/backend/cudnn/ops/ops.h"

namespace winnow::train::cudnn::ops {

void scale(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().scale, scale_arguments(lowering, node));
}

void scale_factor_gradient(CudnnLowering& lowering, const Node& node) {
  const ImageExtents x = image_extents(lowering.value(node.inputs[0]).shape);
  lowering.kernel(lowering.table().scale_factor_gradient,
                  scale_factor_gradient_arguments(lowering, node, lowering.sums_scratch(x)));
}

}  // namespace winnow::train::cudnn::ops
