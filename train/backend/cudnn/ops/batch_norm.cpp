#include <optional>

#include "train/backend/cudnn/ops/ops.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train::cudnn::ops {
namespace {

// Memory for sums over the rows of x.
NormSlots sums_memory(CudnnLowering& lowering, const Node& node) {
  const ImageExtents extents = image_extents(lowering.value(node.inputs[0]).shape);
  return {std::nullopt, lowering.sums_scratch(extents)};
}

}  // namespace

void batch_norm(CudnnLowering& lowering, const Node& node) {
  const NormSlots memory = sums_memory(lowering, node);
  lowering.kernel(lowering.table().batch_norm, batch_norm_arguments(lowering, node, false, memory));
}

void batch_norm_inference(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().batch_norm_inference,
                  batch_norm_arguments(lowering, node, true, {}));
}

void batch_norm_backward(CudnnLowering& lowering, const Node& node) {
  const NormSlots memory = sums_memory(lowering, node);
  lowering.kernel(lowering.table().batch_norm_backward,
                  batch_norm_backward_arguments(lowering, node, memory));
}

void batch_norm_statistics(CudnnLowering& lowering, const Node& node) {
  const NormSlots memory = sums_memory(lowering, node);
  lowering.kernel(lowering.table().batch_norm_statistics,
                  batch_norm_statistics_arguments(lowering, node, memory));
}

void batch_norm_sums(CudnnLowering& lowering, const Node& node) {
  const NormSlots memory = sums_memory(lowering, node);
  lowering.kernel(lowering.table().batch_norm_sums,
                  batch_norm_sums_arguments(lowering, node, memory));
}

void batch_norm_input_gradient(CudnnLowering& lowering, const Node& node) {
  lowering.kernel(lowering.table().batch_norm_input_gradient,
                  batch_norm_input_gradient_arguments(lowering, node, {}));
}

}  // namespace winnow::train::cudnn::ops
