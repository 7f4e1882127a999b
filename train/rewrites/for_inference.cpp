#include <utility>

#include "train/ops/batch_norm.h"
#include "train/rewrites/rewrites.h"
#include "train/rewrites/running_statistics.h"

namespace winnow::train {

Graph for_inference(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    if (node.op == &kBatchNorm) node = with_running_statistics(graph, std::move(node));
  }
  std::erase_if(result.outputs, [](const Output& output) {
    return output.kind == OutputKind::kMean || output.kind == OutputKind::kVariance ||
           output.kind == OutputKind::kGradient;
  });
  return prune(result);
}

}  // namespace winnow::train
