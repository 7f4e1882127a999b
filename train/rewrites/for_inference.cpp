#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "train/ops/batch_norm.h"
#include "train/ops/dropout.h"
#include "train/rewrites/rewrites.h"
#include "train/rewrites/running_statistics.h"

namespace winnow::train {
namespace {

// Removes dropouts: their readers read the dropout's input instead.
void without_dropout(Graph& graph) {
  std::vector<ValueId> instead(graph.values.size());
  std::iota(instead.begin(), instead.end(), 0);
  const auto replace = [&](ValueId& id) { id = instead[static_cast<std::size_t>(id)]; };
  for (Node& node : graph.nodes) {
    std::ranges::for_each(node.inputs, replace);
    if (node.op == &kDropout) instead[static_cast<std::size_t>(node.outputs[0])] = node.inputs[0];
  }
  for (Output& output : graph.outputs) replace(output.value);
}

}  // namespace

Graph for_inference(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    if (node.op == &kBatchNorm) node = with_running_statistics(graph, std::move(node));
  }
  without_dropout(result);
  std::erase_if(result.outputs, [](const Output& output) {
    return output.kind == OutputKind::kMean || output.kind == OutputKind::kVariance ||
           output.kind == OutputKind::kGradient || is_local(output);
  });
  return prune(result);
}

}  // namespace winnow::train
