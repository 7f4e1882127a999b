#include <algorithm>
#include <string>
#include <utility>

#include "train/graph/gradient.h"
#include "train/ops/elementwise.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

std::size_t position(ValueId id) { return static_cast<std::size_t>(id); }

// Reverse accumulation, one loss after the other. Visits the forward nodes in reverse; each
// operation adds its contribution to the gradients of its inputs. A parameter's gradient becomes an
// output with the last contribution of the last loss.
class Differentiation final : public GradientBuilder {
 public:
  Differentiation(const Graph& graph, const std::vector<LossReach>& losses)
      : graph_(graph),
        losses_(losses),
        forward_nodes_(graph.nodes.size()),
        total_(graph.values.size(), -1),
        to_come_(graph.values.size(), 0) {
    for (const LossReach& loss : losses_) {
      wanted_ = find_wanted(loss);
      for (std::size_t i = 0; i < wanted_.size(); ++i) to_come_[i] += wanted_[i] ? 1 : 0;
    }
    several_ = to_come_;
  }

  Graph run() && {
    for (const LossReach& loss : losses_) {
      begin(loss);
      for (std::size_t i = forward_nodes_; i-- > 0;) {
        node_ = graph_.nodes[i];  // a copy: nodes are appended below
        if (is_active(node_)) backward();
      }
    }
    return std::move(graph_);
  }

  const Value& value(ValueId id) const override { return graph_.value(id); }
  bool wants(ValueId id) const override { return wanted_[position(id)]; }
  bool is_loss(ValueId id) const override { return id == loss_; }
  ValueId gradient_of(ValueId output) const override { return gradient_[position(output)]; }

  std::vector<ValueId> append(const Operation& op, const std::string& what,
                              std::vector<ValueId> inputs, Attributes attributes) override {
    return add_node(graph_, op, node_.name + "." + what + by_loss(node_.outputs.front()),
                    std::move(inputs), std::move(attributes));
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
    if (last && graph_.value(of).kind == ValueKind::kParameter) add_to_total(of, sum);
  }

  [[noreturn]] void refuse(const std::string& why) const override {
    throw Error(std::string(op_name(node_.op)) + " '" + node_.name +
                "' cannot be differentiated: " + why);
  }

 private:
  void begin(const LossReach& loss) {
    loss_ = loss.loss;
    wanted_ = find_wanted(loss);
    gradient_.assign(wanted_.size(), -1);
    uses_.assign(wanted_.size(), 0);
    contributed_.assign(wanted_.size(), 0);
    for (std::size_t i = 0; i < forward_nodes_; ++i) {
      const Node& node = graph_.nodes[i];
      if (!is_active(node)) continue;
      for (const ValueId id : node.inputs) uses_[position(id)] += wants(id) ? 1 : 0;
    }
  }

  // Called when a parameter's gradient for one loss is complete. Gradients of several losses are
  // added in order.
  void add_to_total(ValueId of, ValueId part) {
    ValueId& total = total_[position(of)];
    if (total < 0) {
      total = part;
    } else {
      total = append(kAdd, "sum of losses", {total, part}, {})[0];
      graph_.values[position(total)].name = "d(" + graph_.value(of).name + ")";
    }
    if (--to_come_[position(of)] == 0) {
      graph_.outputs.push_back({OutputKind::kGradient, total, of, 0});
    }
  }

  bool is_active(const Node& node) const {
    return std::ranges::any_of(node.outputs, [&](ValueId id) { return wants(id); });
  }

  // Gradients are wanted for values that depend on a parameter, that the loss depends on, and that
  // are not beyond the ends of its gradient.
  std::vector<bool> find_wanted(const LossReach& loss) const {
    const std::size_t count = total_.size();
    std::vector<bool> ends(count, false);
    for (const ValueId id : loss.ends) ends[position(id)] = true;
    const auto any = [](const std::vector<ValueId>& ids, const std::vector<bool>& marked) {
      return std::ranges::any_of(ids, [&](ValueId id) { return marked[position(id)]; });
    };
    std::vector<bool> reaches_loss(count, false);
    reaches_loss[position(loss.loss)] = true;
    for (std::size_t i = forward_nodes_; i-- > 0;) {
      if (!any(graph_.nodes[i].outputs, reaches_loss)) continue;
      for (const ValueId id : graph_.nodes[i].inputs) {
        reaches_loss[position(id)] = !ends[position(id)];
      }
    }
    std::vector<bool> varies(count, false);
    for (const ValueId id : graph_.of_kind(ValueKind::kParameter)) {
      if (position(id) < count) varies[position(id)] = true;
    }
    for (std::size_t i = 0; i < forward_nodes_; ++i) {
      if (!any(graph_.nodes[i].inputs, varies)) continue;
      for (const ValueId id : graph_.nodes[i].outputs) varies[position(id)] = !ends[position(id)];
    }
    std::vector<bool> wanted(count, false);
    for (std::size_t i = 0; i < count; ++i) wanted[i] = reaches_loss[i] && varies[i];
    return wanted;
  }

  // A suffix that distinguishes the gradients of several losses for one value or node.
  std::string by_loss(ValueId of) const {
    const int several = std::max(several_[position(of)], several_[position(node_.outputs.front())]);
    return several > 1 ? " of " + graph_.value(loss_).name : "";
  }

  std::string gradient_name(ValueId of) const {
    return "d(" + graph_.value(of).name + ")" + by_loss(of);
  }

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
  const std::vector<LossReach>& losses_;
  const std::size_t forward_nodes_;
  // Over all losses, for each value of the forward graph.
  std::vector<ValueId> total_;  // gradients of parameters, summed over the losses so far; -1
  std::vector<int> to_come_;    // number of losses still to come that want its gradient
  std::vector<int> several_;    // the same before the first loss
  // The same for the current loss.
  Node node_;  // the forward node
  ValueId loss_ = -1;
  std::vector<bool> wanted_;
  std::vector<ValueId> gradient_;  // sum of the contributions so far; -1
  std::vector<int> uses_;          // number of contributions to each gradient
  std::vector<int> contributed_;
};

}  // namespace

Graph differentiate(const Graph& graph, const std::vector<LossReach>& losses) {
  return Differentiation(graph, losses).run();
}

Graph differentiate(const Graph& graph) {
  const auto loss = std::ranges::find(graph.outputs, OutputKind::kLoss, &Output::kind);
  if (loss == graph.outputs.end()) {
    throw Error("a graph without a loss among its outputs cannot be differentiated");
  }
  return differentiate(graph, {{.loss = loss->value, .ends = {}}});
}

}  // namespace winnow::train
