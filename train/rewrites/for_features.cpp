#include "train/rewrites/for_features.h"

#include <algorithm>

#include "train/ops/linear.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

const Node* producer_of(const Graph& graph, ValueId value) {
  const auto found = std::ranges::find_if(graph.nodes, [&](const Node& node) {
    return std::ranges::find(node.outputs, value) != node.outputs.end();
  });
  return found == graph.nodes.end() ? nullptr : &*found;
}

// Follows what has one computed operand back to the layer it is of.
const Node* classifier_behind(const Graph& graph, ValueId logits) {
  const Node* node = producer_of(graph, logits);
  while (node != nullptr && node->op != &kLinear) {
    const auto is_computed = [&](ValueId id) {
      return graph.value(id).kind == ValueKind::kComputed;
    };
    if (std::ranges::count_if(node->inputs, is_computed) != 1) return nullptr;
    node = producer_of(graph, *std::ranges::find_if(node->inputs, is_computed));
  }
  return node;
}

}  // namespace

Graph for_features(const Graph& graph) {
  const auto logits = std::ranges::find(graph.outputs, OutputKind::kLogits, &Output::kind);
  if (logits == graph.outputs.end()) throw Error("the net has no logits");
  const Node* const classifier = classifier_behind(graph, logits->value);
  if (classifier == nullptr) {
    throw Error(
        "the net does not end in a fully connected layer, so it is not known what of it "
        "would be features");
  }
  Graph result = graph;
  result.outputs = {{.kind = OutputKind::kValue, .value = classifier->inputs.front()}};
  return prune(result);
}

std::int64_t feature_count(const Graph& graph) {
  const Shape& shape = graph.value(graph.outputs.front().value).shape;
  return element_count(shape) / shape.front();
}

}  // namespace winnow::train
