#include <utility>

#include "train/graph/edit.h"
#include "train/graph/rewrites.h"

namespace winnow::train {
namespace {

// Makes `norm`, whose batch statistics the outputs name, read the running ones.
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
  norm.op = OpKind::kBatchNormInference;
  norm.outputs = {norm.outputs[0]};
  norm.inputs.insert(norm.inputs.begin() + 3, {mean, variance});
  return norm;
}

}  // namespace

Graph prune(const Graph& graph) {
  std::vector<bool> wanted = is_output(graph);
  std::vector<bool> dropped(graph.nodes.size(), true);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    for (const ValueId id : node.outputs) {
      if (wanted[static_cast<std::size_t>(id)]) dropped[i] = false;
    }
    if (dropped[i]) continue;
    for (const ValueId id : node.inputs) wanted[static_cast<std::size_t>(id)] = true;
  }
  return compacted(graph, dropped);
}

Graph for_inference(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    if (node.op == OpKind::kBatchNorm) node = with_running_statistics(graph, std::move(node));
  }
  std::erase_if(result.outputs, [](const Output& output) {
    return output.kind == OutputKind::kMean || output.kind == OutputKind::kVariance ||
           output.kind == OutputKind::kGradient;
  });
  return prune(result);
}

}  // namespace winnow::train
