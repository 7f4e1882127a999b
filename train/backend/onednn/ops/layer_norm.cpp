#include "train/backend/lower/layer_norm.h"

#include "train/backend/onednn/kernels/layer_norm_internal.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void layer_norm(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().layer_norm, layer_norm_arguments(lowering, node, std::nullopt));
}

void layer_norm_backward(OneDnnLowering& lowering, const Node& node) {
  const std::int64_t channels = lowering.value(node.inputs[0]).shape.at(1);
  const auto bytes = static_cast<std::size_t>(kernels::layer_norm_scratch_bytes(channels));
  lowering.kernel(lowering.table().layer_norm_backward,
                  layer_norm_backward_arguments(lowering, node, lowering.slots().scratch(bytes)));
}

}  // namespace winnow::train::onednn::ops
