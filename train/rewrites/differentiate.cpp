#include <algorithm>
#include <string>
#include <utility>

#include "train/graph/gradient.h"
#include "train/ops/elementwise.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

std::size_t position(ValueId id) { return static_cast<std::size_t>(id); }

// Reverse accumulation: the forward nodes are visited backwards, the operation of each adds what it
// contributes to the gradients of its inputs. A parameter's gradient becomes an output with its
// last contribution.
class Differentiation final : public GradientBuilder {
 public:
  explicit Differentiation(const Graph& graph)
      : graph_(graph),
        wanted_(graph.values.size(), false),
        gradient_(graph.values.size(), -1),
        uses_(graph.values.size(), 0),
        contributed_(graph.values.size(), 0) {
    loss_ = find_loss();
    mark_wanted();
  }

  Graph run() && {
    const std::size_t forward_nodes = graph_.nodes.size();
    for (std::size_t i = forward_nodes; i-- > 0;) {
      node_ = graph_.nodes[i];  // a copy: nodes are appended below
      if (is_active(node_)) backward();
    }
    return std::move(graph_);
  }

  const Value& value(ValueId id) const override { return graph_.value(id); }
  bool wants(ValueId id) const override { return wanted_[position(id)]; }
  bool is_loss(ValueId id) const override { return id == loss_; }
  ValueId gradient_of(ValueId output) const override { return gradient_[position(output)]; }

  std::vector<ValueId> append(const Operation& op, const std::string& what,
                              std::vector<ValueId> inputs, Attributes attributes) override {
    return add_node(graph_, op, node_.name + "." + what, std::move(inputs), std::move(attributes));
  }

  void add_gradient(ValueId of, ValueId part) override {
    const bool shared = uses_[position(of)] > 1;
    graph_.values[position(part)].name = gradient_name(of) + (shared ? " by " + node_.name : "");
    pass_gradient(of, part);
  }

  void pass_gradient(ValueId of, ValueId part) override {
    if (!wants(of)) return;
    ValueId& sum = gradient_[position(of)];
    const int before = contributed_[position(of)]++;
    const bool last = contributed_[position(of)] == uses_[position(of)];
    if (before == 0) {
      sum = part;
    } else {
      sum = append(kAdd, "sum", {sum, part}, {})[0];
      graph_.values[position(sum)].name =
          gradient_name(of) + (last ? "" : " of " + std::to_string(before + 1) + " readers");
    }
    if (last && graph_.value(of).kind == ValueKind::kParameter) {
      graph_.outputs.push_back({OutputKind::kGradient, sum, of, 0});
    }
  }

  [[noreturn]] void refuse(const std::string& why) const override {
    throw Error(std::string(op_name(node_.op)) + " '" + node_.name +
                "' cannot be differentiated: " + why);
  }

 private:
  ValueId find_loss() const {
    for (const Output& output : graph_.outputs) {
      if (output.kind == OutputKind::kLoss) return output.value;
    }
    throw Error("a graph without a loss among its outputs cannot be differentiated");
  }

  bool is_active(const Node& node) const {
    return std::ranges::any_of(node.outputs, [&](ValueId id) { return wants(id); });
  }

  // Gradients are wanted of what depends on a parameter and what the loss depends on.
  void mark_wanted() {
    std::vector<bool> reaches_loss(graph_.values.size(), false);
    reaches_loss[position(loss_)] = true;
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      if (std::ranges::none_of(node.outputs,
                               [&](ValueId id) { return reaches_loss[position(id)]; })) {
        continue;
      }
      for (const ValueId id : node.inputs) reaches_loss[position(id)] = true;
    }
    std::vector<bool> varies(graph_.values.size(), false);
    for (const ValueId id : graph_.of_kind(ValueKind::kParameter)) varies[position(id)] = true;
    for (const Node& node : graph_.nodes) {
      if (std::ranges::none_of(node.inputs, [&](ValueId id) { return varies[position(id)]; }))
        continue;
      for (const ValueId id : node.outputs) varies[position(id)] = true;
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) wanted_[i] = reaches_loss[i] && varies[i];
    for (const Node& node : graph_.nodes) {
      if (!is_active(node)) continue;
      for (const ValueId id : node.inputs) uses_[position(id)] += wants(id) ? 1 : 0;
    }
  }

  std::string gradient_name(ValueId of) const { return "d(" + graph_.value(of).name + ")"; }

  void backward() {
    for (std::size_t i = 1; i < node_.outputs.size(); ++i) {
      if (wants(node_.outputs[i]) && uses_[position(node_.outputs[i])] > 0) {
        refuse("the loss depends on '" + graph_.value(node_.outputs[i]).name + "'");
      }
    }
    if (node_.op->gradient == nullptr) refuse("it has no gradient");
    node_.op->gradient(*this, node_);
  }

  Graph graph_;
  Node node_;  // the forward node whose turn it is
  ValueId loss_ = -1;
  std::vector<bool> wanted_;       // per value of the forward graph
  std::vector<ValueId> gradient_;  // the sum of what came so far; -1
  std::vector<int> uses_;          // how many contributions a gradient has in the end
  std::vector<int> contributed_;
};

}  // namespace

Graph differentiate(const Graph& graph) { return Differentiation(graph).run(); }

}  // namespace winnow::train
