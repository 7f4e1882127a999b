#include "train/rewrites/running_statistics.h"

#include "train/ops/batch_norm.h"

namespace winnow::train {

Node with_running_statistics(const Graph& graph, Node norm) {
  ValueId mean = -1;
  ValueId variance = -1;
  for (const Output& output : graph.outputs) {
    if (output.kind == OutputKind::kMean && output.value == norm.outputs[1]) mean = output.of;
    if (output.kind == OutputKind::kVariance && output.value == norm.outputs[2])
      variance = output.of;
  }
  if (mean < 0 || variance < 0) {
    throw Error("batch norm '" + norm.name +
                "' has no running statistics: its mean and variance must be outputs of the graph");
  }
  norm.op = &kBatchNormInference;
  norm.outputs = {norm.outputs[0]};
  norm.inputs.insert(norm.inputs.begin() + 3, {mean, variance});
  return norm;
}

}  // namespace winnow::train
