#include "train/backend/cudnn/ops/ops.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train::cudnn::ops {

void max_pool(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().max_pool,
                  pool_arguments(lowering, node, false, node.outputs[1]));
}

void max_pool_backward(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().max_pool_backward,
                  pool_arguments(lowering, node, true, node.inputs[1]));
}

void avg_pool(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().avg_pool, pool_arguments(lowering, node, false, std::nullopt));
}

void avg_pool_backward(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().avg_pool_backward,
                  pool_arguments(lowering, node, true, std::nullopt));
}

}  // namespace winnow::train::cudnn::ops
