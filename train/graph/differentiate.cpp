#include <algorithm>
#include <string>
#include <utility>

#include "train/graph/rewrites.h"

namespace winnow::train {
namespace {

std::size_t position(ValueId id) { return static_cast<std::size_t>(id); }

// Reverse accumulation: the forward nodes are visited backwards, each adds what it contributes to
// the gradients of its inputs. A parameter's gradient becomes an output with its last contribution.
class Differentiation {
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
      const Node node = graph_.nodes[i];  // a copy: nodes are appended below
      if (is_active(node)) backward(node);
    }
    return std::move(graph_);
  }

 private:
  ValueId find_loss() const {
    for (const Output& output : graph_.outputs) {
      if (output.kind == OutputKind::kLoss) return output.value;
    }
    throw Error("a graph without a loss among its outputs cannot be differentiated");
  }

  bool wants(ValueId id) const { return wanted_[position(id)]; }
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

  std::vector<ValueId> append(OpKind op, const Node& node, const std::string& what,
                              std::vector<ValueId> inputs, Attributes attributes = {}) {
    return add_node(graph_, op, node.name + "." + what, std::move(inputs), std::move(attributes));
  }

  // Adds `part`, computed for `node`, to the gradient of its input `of`.
  void contribute(const Node& node, ValueId of, ValueId part) {
    if (!wants(of)) return;
    ValueId& sum = gradient_[position(of)];
    const int before = contributed_[position(of)]++;
    const bool last = contributed_[position(of)] == uses_[position(of)];
    if (before == 0) {
      sum = part;
    } else {
      sum = append(OpKind::kAdd, node, "sum", {sum, part})[0];
      graph_.values[position(sum)].name =
          gradient_name(of) + (last ? "" : " of " + std::to_string(before + 1) + " readers");
    }
    if (last && graph_.value(of).kind == ValueKind::kParameter) {
      graph_.outputs.push_back({OutputKind::kGradient, sum, of, 0});
    }
  }
  // The same for what a backward node just made, which is named after what it is the gradient of.
  void contribute_made(const Node& node, ValueId of, ValueId part) {
    const bool shared = uses_[position(of)] > 1;
    graph_.values[position(part)].name = gradient_name(of) + (shared ? " by " + node.name : "");
    contribute(node, of, part);
  }

  [[noreturn]] void refuse(const Node& node, const std::string& why) const {
    throw Error(std::string(op_name(node.op)) + " '" + node.name +
                "' cannot be differentiated: " + why);
  }

  void backward(const Node& node) {
    for (std::size_t i = 1; i < node.outputs.size(); ++i) {
      if (wants(node.outputs[i]) && uses_[position(node.outputs[i])] > 0) {
        refuse(node, "the loss depends on '" + graph_.value(node.outputs[i]).name + "'");
      }
    }
    if (node.op == OpKind::kSoftmaxCrossEntropy) return backward_loss(node);
    const ValueId dy = gradient_[position(node.outputs[0])];
    switch (node.op) {
      case OpKind::kConv2d:
        return backward_conv(node, dy);
      case OpKind::kLinear:
        return backward_linear(node, dy);
      case OpKind::kBatchNorm:
        return backward_norm(node, dy);
      case OpKind::kRelu:
        return contribute_made(
            node, node.inputs[0],
            append(OpKind::kReluBackward, node, "backward", {node.outputs[0], dy})[0]);
      case OpKind::kAdd:
        contribute(node, node.inputs[0], dy);
        return contribute(node, node.inputs[1], dy);
      case OpKind::kMaxPool:
        return contribute_made(node, node.inputs[0],
                               append(OpKind::kMaxPoolBackward, node, "backward",
                                      {dy, node.outputs[1]}, of_data<PoolAttributes>(node))[0]);
      case OpKind::kAvgPool:
        return contribute_made(node, node.inputs[0],
                               append(OpKind::kAvgPoolBackward, node, "backward", {dy},
                                      of_data<PoolAttributes>(node))[0]);
      default:
        refuse(node, "it has no gradient");
    }
  }

  template <class T>
  T of_data(const Node& node) const {
    T attributes = std::get<T>(node.attributes);
    attributes.data_shape = graph_.value(node.inputs[0]).shape;
    return attributes;
  }

  void backward_loss(const Node& node) {
    if (node.outputs[0] != loss_) refuse(node, "it is not the loss");
    if (wants(node.inputs[1]) || wants(node.inputs[2])) {
      refuse(node, "its targets and weights must not depend on parameters");
    }
    contribute_made(node, node.inputs[0],
                    append(OpKind::kSoftmaxCrossEntropyBackward, node, "backward", node.inputs,
                           node.attributes)[0]);
  }

  // The filter's gradient first: its reduction over the ranks can begin while the rest is computed.
  void backward_conv(const Node& node, ValueId dy) {
    auto attributes = of_data<ConvAttributes>(node);
    attributes.filter_shape = graph_.value(node.inputs[1]).shape;
    backward_product(node, dy, attributes, OpKind::kConv2dBackwardFilter,
                     OpKind::kConv2dBackwardData);
  }
  void backward_linear(const Node& node, ValueId dy) {
    backward_product(node, dy, of_data<LinearAttributes>(node), OpKind::kLinearBackwardWeight,
                     OpKind::kLinearBackwardData);
  }
  template <class T>
  void backward_product(const Node& node, ValueId dy, T attributes, OpKind filter_op,
                        OpKind data_op) {
    const ValueId x = node.inputs[0];
    const ValueId w = node.inputs[1];
    attributes.bias = attributes.bias && wants(node.inputs[2]);
    if (wants(w) || attributes.bias) {
      const auto made = append(filter_op, node, "backward_filter", {x, dy}, attributes);
      contribute_made(node, w, made[0]);
      if (attributes.bias) contribute_made(node, node.inputs[2], made[1]);
    }
    attributes.bias = false;
    if (wants(x))
      contribute_made(node, x, append(data_op, node, "backward_data", {dy, w}, attributes)[0]);
  }

  void backward_norm(const Node& node, ValueId dy) {
    const auto& norm = std::get<NormAttributes>(node.attributes);
    std::vector<ValueId> inputs = {node.inputs[0], node.inputs[1], node.outputs[1], node.outputs[2],
                                   dy};
    if (norm.relu) inputs.push_back(node.outputs[0]);
    const auto made = append(OpKind::kBatchNormBackward, node, "backward", std::move(inputs), norm);
    contribute_made(node, node.inputs[1], made[1]);
    contribute_made(node, node.inputs[2], made[2]);
    contribute_made(node, node.inputs[0], made[0]);
    if (!norm.residual) return;
    if (norm.relu) return contribute_made(node, node.inputs[3], made[3]);
    contribute(node, node.inputs[3], dy);
  }

  Graph graph_;
  ValueId loss_ = -1;
  std::vector<bool> wanted_;       // per value of the forward graph
  std::vector<ValueId> gradient_;  // the sum of what came so far; -1
  std::vector<int> uses_;          // how many contributions a gradient has in the end
  std::vector<int> contributed_;
};

}  // namespace

Graph differentiate(const Graph& graph) { return Differentiation(graph).run(); }

}  // namespace winnow::train
