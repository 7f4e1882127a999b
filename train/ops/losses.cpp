#include "train/ops/losses.h"

#include <utility>

#include "train/graph/text.h"

namespace winnow::train {
namespace {

const Shape& check_loss(const ShapeInference& in, double smoothing) {
  in.arity(3);
  if (!(smoothing >= 0 && smoothing < 1)) {
    in.fail("label smoothing " + std::to_string(smoothing) + " must be in [0, 1)");
  }
  const Shape& logits = in.rank(0, 2);
  in.storage(0, Storage::kCompute);
  in.same_as(1, logits);
  in.same_as(2, {logits[0]});
  return logits;
}

}  // namespace

std::vector<Value> infer_loss(const ShapeInference& in, double label_smoothing) {
  const Shape& logits = check_loss(in, label_smoothing);
  return {in.made("", {1}, Storage::kF32), in.made(".per_sample", {logits[0]}, Storage::kF32)};
}

std::vector<Value> infer_loss_backward(const ShapeInference& in, double label_smoothing) {
  return {in.computed(check_loss(in, label_smoothing))};
}

std::string label_smoothing_text(double label_smoothing) {
  return label_smoothing > 0 ? " label_smoothing=" + number_text(label_smoothing) : "";
}

double LossSample::target_sum() const {
  double sum = 0;
  for (std::size_t k = 0; k < classes; ++k) sum += targets[k];
  return sum;
}

double LossSample::smoothed(std::size_t k, double label_smoothing) const {
  return (1 - label_smoothing) * targets[k] +
         label_smoothing / static_cast<double>(classes) * target_sum();
}

LossSample loss_sample(const ReferenceOperands& operands, std::size_t n) {
  const std::size_t classes = operands.in(0).size() / operands.in(2).size();
  return {&operands.in(0)[n * classes], &operands.in(1)[n * classes], classes};
}

void loss_gradient(GradientBuilder& builder, const Node& node, const Operation& backward) {
  if (!builder.is_loss(node.outputs[0])) builder.refuse("it is not the loss of the net");
  if (builder.wants(node.inputs[1]) || builder.wants(node.inputs[2])) {
    builder.refuse("its targets and weights must not depend on parameters");
  }
  builder.add_gradient(node.inputs[0],
                       builder.append(backward, "backward", node.inputs, node.attributes)[0]);
}

void add_loss_cases(CaseTable& table, const Operation& forward, const Operation& backward,
                    const LossCase& made) {
  const std::int64_t n = made.samples;
  const std::int64_t k = made.classes;
  for (const Operation* op : {&forward, &backward}) {
    CaseMaker maker = table.begin();
    std::vector<double> targets(static_cast<std::size_t>(n * k));
    std::vector<double> weights(static_cast<std::size_t>(n));
    const auto labels = maker.whole_numbers({n, 2}, static_cast<std::uint32_t>(k));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto row = i * static_cast<std::size_t>(k);
      const double own = made.unlabelled && i % 2 == 0 ? 0 : 1;
      targets[row + static_cast<std::size_t>(labels[2 * i])] += made.mixed ? 0.25 : own;
      if (made.mixed) targets[row + static_cast<std::size_t>(labels[2 * i + 1])] += 0.75;
      weights[i] = i % 3 == 2 ? 0 : 0.125 * static_cast<double>(1 + i % 2);
    }
    std::vector<double> logits = maker.signed_numbers({n, k});
    for (double& logit : logits) logit *= 16;
    for (std::size_t row = 0; made.extreme && row < logits.size();
         row += static_cast<std::size_t>(k)) {
      logits[row] = 1e4;
      logits[row + 1] = -1e4;
    }
    const std::vector<ValueId> inputs = {
        maker.leaf("logits", {n, k}, logits, ValueKind::kInput, Storage::kCompute),
        maker.leaf("targets", {n, k}, targets), maker.leaf("weights", {n}, weights)};
    table.keep(std::move(maker).finish(std::string(op->name) + "_" + made.name, *op, inputs,
                                       made.attributes));
  }
}

}  // namespace winnow::train
