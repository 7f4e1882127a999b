#include "train/backend/lower/group_norm.h"

#include "train/backend/onednn/kernels/group_norm_internal.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {
namespace {

Slots::Id scratch(OneDnnLowering& lowering, const Node& node) {
  const kernels::GroupNormLayer layer = group_norm_layer(lowering, node);
  const std::int64_t bytes = kernels::group_norm_scratch_bytes(layer.batch, layer.channels);
  return lowering.slots().scratch(static_cast<std::size_t>(bytes));
}

}  // namespace

void group_norm(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().group_norm,
                  group_norm_arguments(lowering, node, group_norm_layer(lowering, node),
                                       scratch(lowering, node)));
}

void group_norm_backward(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().group_norm_backward,
                  group_norm_backward_arguments(lowering, node, group_norm_layer(lowering, node),
                                                scratch(lowering, node)));
}

}  // namespace winnow::train::onednn::ops
