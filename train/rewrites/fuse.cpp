#include <array>
#include <utility>

#include "train/graph/edit.h"
#include "train/ops/batch_norm.h"
#include "train/ops/elementwise.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

class Fusion {
 public:
  explicit Fusion(const Graph& graph)
      : graph_(graph),
        dropped_(graph.nodes.size(), false),
        readers_(reader_counts(graph)),
        is_output_(is_output(graph)),
        producer_(graph.values.size(), kNone) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const ValueId id : graph.nodes[i].outputs) producer_[static_cast<std::size_t>(id)] = i;
    }
  }

  Graph run() && {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].op == &kRelu) fuse_into(i);
    }
    return compacted(graph_, dropped_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // The node that computes `id`, if there is exactly one reader; else kNone.
  std::size_t only_for_one(ValueId id) const {
    const auto i = static_cast<std::size_t>(id);
    return readers_[i] == 1 && !is_output_[i] ? producer_[i] : kNone;
  }

  // A batch norm can be moved to its only reader if no node before that one reads its statistics.
  std::size_t movable_norm(ValueId y) const {
    const std::size_t i = only_for_one(y);
    if (i == kNone || graph_.nodes[i].op != &kBatchNorm) return kNone;
    const Node& norm = graph_.nodes[i];
    const bool unread = readers_[static_cast<std::size_t>(norm.outputs[1])] == 0 &&
                        readers_[static_cast<std::size_t>(norm.outputs[2])] == 0;
    return unread && !attributes_of<NormAttributes>(norm).relu ? i : kNone;
  }

  // The fused node takes the position of the relu, where all its inputs are computed.
  void fuse_into(std::size_t relu) {
    const ValueId x = graph_.nodes[relu].inputs[0];
    if (const std::size_t norm = movable_norm(x); norm != kNone) {
      return replace(relu, norm, graph_.nodes[norm].inputs);
    }
    const std::size_t add = only_for_one(x);
    if (add == kNone || graph_.nodes[add].op != &kAdd) return;
    const std::vector<ValueId>& terms = graph_.nodes[add].inputs;
    for (const auto& [term, other] : {std::array{0, 1}, std::array{1, 0}}) {
      const std::size_t norm = movable_norm(terms[static_cast<std::size_t>(term)]);
      if (norm == kNone) continue;
      std::vector<ValueId> inputs = graph_.nodes[norm].inputs;
      if (attributes_of<NormAttributes>(graph_.nodes[norm]).residual) continue;
      inputs.push_back(terms[static_cast<std::size_t>(other)]);
      replace(relu, norm, std::move(inputs));
      dropped_[add] = true;
      return;
    }
  }

  void replace(std::size_t relu, std::size_t norm, std::vector<ValueId> inputs) {
    Node fused = graph_.nodes[norm];
    fused.outputs[0] = graph_.nodes[relu].outputs[0];
    NormAttributes attributes = attributes_of<NormAttributes>(fused);
    attributes.relu = true;
    attributes.residual = inputs.size() == 4;
    fused.attributes = attributes;
    fused.inputs = std::move(inputs);
    graph_.nodes[relu] = std::move(fused);
    dropped_[norm] = true;
  }

  Graph graph_;
  std::vector<bool> dropped_;
  std::vector<int> readers_;
  std::vector<bool> is_output_;
  std::vector<std::size_t> producer_;
};

}  // namespace

Graph fuse(const Graph& graph) { return Fusion(graph).run(); }

}  // namespace winnow::train
