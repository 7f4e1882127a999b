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

// Goes back from the logits through nodes with one computed operand to the classifier.
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

const Output& logits_of(const Graph& graph) {
  const auto logits = std::ranges::find(graph.outputs, OutputKind::kLogits, &Output::kind);
  if (logits == graph.outputs.end()) throw Error("the net has no logits");
  return *logits;
}

Output features_output(const Graph& graph) {
  const Node* const classifier = classifier_behind(graph, logits_of(graph).value);
  if (classifier == nullptr) {
    throw Error(
        "the net does not end in a fully connected layer, so it is unknown which values are its "
        "features");
  }
  return {.kind = OutputKind::kValue, .value = classifier->inputs.front()};
}

}  // namespace

Graph for_features(const Graph& graph) {
  Graph result = graph;
  result.outputs = {features_output(graph)};
  return prune(result);
}

Graph for_prediction(const Graph& graph, bool with_features) {
  Graph result = graph;
  result.outputs = {logits_of(graph)};
  if (with_features) result.outputs.push_back(features_output(graph));
  return prune(result);
}

std::vector<float> features_of(const Shape& shape, std::span<const float> values,
                               std::size_t sample) {
  const std::size_t size = values.size() / static_cast<std::size_t>(shape[0]);
  const std::span<const float> from = values.subspan(sample * size, size);
  const auto channels = static_cast<std::size_t>(shape[1]);
  const std::size_t places = size / channels;
  std::vector<float> vector(size);
  for (std::size_t place = 0; place < places; ++place) {
    for (std::size_t c = 0; c < channels; ++c) {
      vector[c * places + place] = from[place * channels + c];
    }
  }
  return vector;
}

std::int64_t feature_count(const Graph& graph) {
  const Shape& shape = graph.value(graph.outputs.front().value).shape;
  return element_count(shape) / shape.front();
}

}  // namespace winnow::train
