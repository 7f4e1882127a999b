#include "train/step/stage_gradients.h"

#include <algorithm>

#include "train/graph/stages.h"
#include "train/plan/execution.h"

namespace winnow::train {
namespace {

// The stage of each tensor of the layout: for a gradient that of its parameter, for statistics
// their own.
std::vector<int> stages_of(const Graph& graph, const GradientLayout& layout) {
  const Stages stages = find_stages(graph);
  std::vector<int> made_in(graph.values.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId id : graph.nodes[i].outputs) {
      made_in[static_cast<std::size_t>(id)] = stages.of_node[i];
    }
  }
  std::vector<int> found;
  for (const GradientLayout::Tensor& tensor : layout.tensors) {
    const Output& output = graph.outputs[tensor.output];
    found.push_back(output.kind == OutputKind::kGradient
                        ? stages.of_value[static_cast<std::size_t>(output.of)]
                        : made_in[static_cast<std::size_t>(output.value)]);
  }
  return found;
}

// Whether the losses of the net and of all heads are finite.
bool losses_are_finite(const GradientSum& sum, const GradientLayout& layout) {
  const std::size_t tensors = layout.tensors.size();
  if (!sum.is_finite(tensors + kLoss)) return false;
  const std::size_t tail = layout.elements - layout.tail_offset;
  for (std::size_t at = kTailCount; at < tail; at += kHeadTailCount) {
    if (!sum.is_finite(tensors + at + kHeadLoss)) return false;
  }
  return true;
}

}  // namespace

StageGradients::StageGradients(const Graph& graph, const GradientLayout& layout)
    : graph_(graph), layout_(layout), stages_(stages_of(graph, layout)) {}

std::vector<double> StageGradients::factors() const {
  std::vector<double> factors;
  for (const LossScale& scale : scales_) factors.push_back(scale.factor);
  return factors;
}

std::size_t StageGradients::scale_of(std::size_t tensor) const {
  return std::min(static_cast<std::size_t>(stages_[tensor]), scales_.size() - 1);
}

void StageGradients::unscale(std::span<float> written, const Task& task) const {
  const GradientLayout::Bucket& bucket = layout_.buckets[static_cast<std::size_t>(task.bucket)];
  const Elements part = elements_of(task.part, bucket.offset, bucket.count);
  for (std::size_t t = bucket.first_tensor; t < bucket.last_tensor; ++t) {
    const GradientLayout::Tensor& tensor = layout_.tensors[t];
    const double scale = factor_of(t);
    if (scale == 1 || graph_.outputs[tensor.output].kind != OutputKind::kGradient) continue;
    const auto factor = static_cast<float>(1 / scale);
    const std::size_t end = std::min(part.end, tensor.offset + tensor.count);
    for (std::size_t i = std::max(part.begin, tensor.offset); i < end; ++i) written[i] *= factor;
  }
}

bool StageGradients::lower(const GradientSum& sum) {
  if (!losses_are_finite(sum, layout_)) return false;
  std::vector<bool> overflowed(scales_.size(), scales_.size() == 1);
  for (std::size_t t = 0; t < layout_.tensors.size(); ++t) {
    if (!sum.is_finite(t)) overflowed[scale_of(t)] = true;
  }
  bool any = false;
  for (std::size_t s = 0; s < overflowed.size(); ++s) {
    if (!overflowed[s]) continue;
    if (!train::lower(scales_[s])) return false;
    any = true;
  }
  return any;
}

void StageGradients::count_clean_step() {
  for (LossScale& scale : scales_) train::count_clean_step(scale);
}

std::vector<std::vector<std::span<float>>> StageGradients::of(GradientSum& sum) const {
  std::vector<std::vector<std::span<float>>> stages;
  for (std::size_t t = 0; t < layout_.tensors.size(); ++t) {
    const GradientLayout::Tensor& tensor = layout_.tensors[t];
    if (graph_.outputs[tensor.output].kind != OutputKind::kGradient) continue;
    const auto stage = static_cast<std::size_t>(stages_[t]);
    stages.resize(std::max(stages.size(), stage + 1));
    stages[stage].push_back(sum.values().subspan(tensor.offset, tensor.count));
  }
  return stages;
}

}  // namespace winnow::train
