#include <string>
#include <utility>

#include "train/graph/edit.h"
#include "train/ops/batch_norm.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

// Rewrites the nodes of a graph with each batch norm in steps.
class Synchronization {
 public:
  explicit Synchronization(const Graph& graph) : result_(graph), read_(reader_counts(graph)) {
    const std::vector<bool> outputs = is_output(graph);
    for (std::size_t i = 0; i < read_.size(); ++i) read_[i] += outputs[i] ? 1 : 0;
    result_.nodes.clear();
    for (const Node& node : graph.nodes) {
      if (node.op == &kBatchNorm) {
        forward(node);
      } else if (node.op == &kBatchNormBackward) {
        backward(node);
      } else {
        result_.nodes.push_back(node);
      }
    }
  }

  Graph take() && { return std::move(result_); }

 private:
  void forward(const Node& norm) {
    const ValueId mean = norm.outputs[1];
    const ValueId variance = norm.outputs[2];
    result_.nodes.push_back(
        {&kBatchNormStatistics, norm.name + ".statistics", {norm.inputs[0]}, {mean, variance}, {}});
    share(OutputKind::kSharedMean, mean);
    share(OutputKind::kSharedVariance, variance, mean);
    Node rest = norm;
    rest.op = &kBatchNormInference;
    rest.inputs.insert(rest.inputs.begin() + 3, {mean, variance});
    rest.outputs = {norm.outputs[0]};
    result_.nodes.push_back(std::move(rest));
  }

  // x, scale, mean, variance, dy, [y] -> dx, dscale, dshift, [dresidual]
  void backward(const Node& norm) {
    Node sums = norm;
    sums.op = &kBatchNormSums;
    sums.name += ".sums";
    sums.inputs.erase(sums.inputs.begin() + 1);
    const std::vector<Value> made =
        infer(result_, kBatchNormSums, sums.name, sums.inputs, sums.attributes);
    const ValueId mean_product = append(made[2]);
    const ValueId mean_gradient = append(made[3]);
    sums.outputs = {norm.outputs[1], norm.outputs[2], mean_product, mean_gradient};
    result_.nodes.push_back(std::move(sums));

    Node rest = norm;
    rest.op = &kBatchNormInputGradient;
    rest.inputs.insert(rest.inputs.begin() + 5, {mean_product, mean_gradient});
    rest.outputs.erase(rest.outputs.begin() + 1, rest.outputs.begin() + 3);
    bool wanted = false;
    for (const ValueId id : rest.outputs) wanted |= read_[static_cast<std::size_t>(id)] > 0;
    if (!wanted) return;  // nothing before this norm is trained
    result_.nodes.push_back(std::move(rest));
    share(OutputKind::kSharedMean, mean_product);
    share(OutputKind::kSharedMean, mean_gradient);
  }

  ValueId append(const Value& value) {
    result_.values.push_back(value);
    return static_cast<ValueId>(result_.values.size()) - 1;
  }

  void share(OutputKind kind, ValueId value, ValueId of = -1) {
    result_.outputs.push_back({kind, value, of, 0});
  }

  Graph result_;
  std::vector<int> read_;  // how many times each value of the graph is read, counting outputs
};

}  // namespace

Graph synchronize_batch_norms(const Graph& graph, std::int64_t micro_batches) {
  Graph result = Synchronization(graph).take();
  for (Output& output : result.outputs) {
    if (output.kind == OutputKind::kVariance) output.count *= micro_batches;
  }
  return compacted(result, std::vector<bool>(result.nodes.size(), false));
}

}  // namespace winnow::train
