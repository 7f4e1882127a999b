#include "train/ops/batch_norm.h"

#include <optional>

#include "train/backend/lower/node_arguments.h"
#include "train/backend/onednn/ops/ops_internal.h"

namespace winnow::train::onednn::ops {
namespace {

std::int64_t channels_of(const OneDnnLowering& lowering, const Node& node) {
  return lowering.value(node.inputs[0]).shape.at(1);
}

std::size_t coefficient_bytes(const OneDnnLowering& lowering, const Node& node) {
  const std::int64_t count = kernels::batch_norm_coefficients(channels_of(lowering, node));
  return static_cast<std::size_t>(count) * sizeof(float);
}

Slots::Id norm_scratch(OneDnnLowering& lowering, const Node& node) {
  const std::int64_t bytes = kernels::batch_norm_scratch_bytes(channels_of(lowering, node));
  return lowering.slots().scratch(static_cast<std::size_t>(bytes));
}

// The forward's coefficients, if they alone tell where the ReLU that `node` differentiates was
// open.
std::optional<Slots::Id> forward_coefficients(const OneDnnLowering& lowering, const Node& node) {
  const auto& attributes = attributes_of<NormAttributes>(node);
  if (!attributes.relu || attributes.residual) return std::nullopt;
  const Node* forward = lowering.producer(node.inputs[5]);
  if (forward == nullptr || op_name(forward->op) != "batch_norm" ||
      forward->inputs[0] != node.inputs[0] || forward->outputs[0] != node.inputs[5]) {
    return std::nullopt;
  }
  const auto& before = attributes_of<NormAttributes>(*forward);
  if (!before.relu || before.residual) return std::nullopt;
  return lowering.kept(*forward);
}

}  // namespace

void batch_norm(OneDnnLowering& lowering, const Node& node) {
  const NormSlots memory{lowering.keep(node, coefficient_bytes(lowering, node)),
                         norm_scratch(lowering, node)};
  lowering.kernel(lowering.table().batch_norm, batch_norm_arguments(lowering, node, false, memory));
}

void batch_norm_inference(OneDnnLowering& lowering, const Node& node) {
  const NormSlots memory{lowering.slots().scratch(coefficient_bytes(lowering, node)), std::nullopt};
  lowering.kernel(lowering.table().batch_norm_inference,
                  batch_norm_arguments(lowering, node, true, memory));
}

void batch_norm_backward(OneDnnLowering& lowering, const Node& node) {
  const NormSlots memory{forward_coefficients(lowering, node), norm_scratch(lowering, node)};
  lowering.kernel(lowering.table().batch_norm_backward,
                  batch_norm_backward_arguments(lowering, node, memory));
}

void batch_norm_statistics(OneDnnLowering& lowering, const Node& node) {
  const NormSlots memory{std::nullopt, norm_scratch(lowering, node)};
  lowering.kernel(lowering.table().batch_norm_statistics,
                  batch_norm_statistics_arguments(lowering, node, memory));
}

void batch_norm_sums(OneDnnLowering& lowering, const Node& node) {
  const NormSlots memory{std::nullopt, norm_scratch(lowering, node)};
  lowering.kernel(lowering.table().batch_norm_sums,
                  batch_norm_sums_arguments(lowering, node, memory));
}

void batch_norm_input_gradient(OneDnnLowering& lowering, const Node& node) {
  const NormSlots memory{std::nullopt, norm_scratch(lowering, node)};
  lowering.kernel(lowering.table().batch_norm_input_gradient,
                  batch_norm_input_gradient_arguments(lowering, node, memory));
}

}  // namespace winnow::train::onednn::ops
