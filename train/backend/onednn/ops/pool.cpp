#include "train/backend/lower/node_arguments.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {

void max_pool(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().max_pool,
                  pool_arguments(lowering, node, false, node.outputs[1]));
}

void max_pool_backward(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().max_pool_backward,
                  pool_arguments(lowering, node, true, node.inputs[1]));
}

void avg_pool(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().avg_pool, pool_arguments(lowering, node, false, std::nullopt));
}

void avg_pool_backward(OneDnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().avg_pool_backward,
                  pool_arguments(lowering, node, true, std::nullopt));
}

}  // namespace winnow::train::onednn::ops
