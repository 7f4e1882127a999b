#include "train/reduce/gradient_layout.h"

#include <algorithm>

namespace winnow::train {

GradientLayout layout_gradients(const Graph& graph, std::size_t bucket_bytes,
                                std::size_t tail_count) {
  // A reduction changes values in place, so it must wait for their last reader: backward still
  // needs the batch statistics that forward wrote.
  std::vector<std::size_t> settled(graph.values.size(), 0);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId v : graph.nodes[n].outputs) settled[static_cast<std::size_t>(v)] = n + 1;
    for (const ValueId v : graph.nodes[n].inputs) settled[static_cast<std::size_t>(v)] = n + 1;
  }
  const auto ready = [&](std::size_t output) {
    return settled[static_cast<std::size_t>(graph.outputs[output].value)];
  };

  std::vector<std::size_t> summed;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const OutputKind kind = graph.outputs[i].kind;
    if (kind == OutputKind::kGradient || kind == OutputKind::kMean ||
        kind == OutputKind::kVariance) {
      summed.push_back(i);
    }
  }
  std::stable_sort(summed.begin(), summed.end(),
                   [&](std::size_t a, std::size_t b) { return ready(a) < ready(b); });

  GradientLayout layout;
  GradientLayout::Bucket open;
  const auto close = [&] {
    open.last_tensor = layout.tensors.size();
    open.count = layout.elements - open.offset;
    layout.buckets.push_back(open);
    open = {.offset = layout.elements, .first_tensor = layout.tensors.size()};
  };
  for (const std::size_t output : summed) {
    const auto count =
        static_cast<std::size_t>(element_count(graph.value(graph.outputs[output].value).shape));
    layout.tensors.push_back({output, layout.elements, count});
    layout.elements += count;
    open.ready_after = ready(output);
    const bool full = (layout.elements - open.offset) * sizeof(float) >= bucket_bytes;
    if (full && output != summed.back()) close();
  }
  layout.tail_offset = layout.elements;
  layout.elements += tail_count;
  open.ready_after = graph.nodes.size();  // the tail is known when all nodes have run
  close();
  return layout;
}

}  // namespace winnow::train
