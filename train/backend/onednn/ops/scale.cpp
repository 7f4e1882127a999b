#include "train/backend/lower/scale.h"

#include "train/backend/lower/layer.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void scale(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().scale, scale_arguments(lowering, node));
}

void scale_factor_gradient(OneDnnLowering& lowering, const Node& node) {
  const ImageExtents x = image_extents(lowering.value(node.inputs[0]).shape);
  const std::int64_t channels = (x.c + kernels::kLanes - 1) / kernels::kLanes * kernels::kLanes;
  const auto bytes = static_cast<std::size_t>(x.n * channels) * sizeof(double);
  lowering.kernel(lowering.table().scale_factor_gradient,
                  scale_factor_gradient_arguments(lowering, node, lowering.slots().scratch(bytes)));
}

}  // namespace winnow::train::onednn::ops
