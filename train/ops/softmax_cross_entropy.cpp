#include "train/ops/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/cases.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::string text(const Attributes& attributes) {
  const double smoothing = attributes.find<LossAttributes>()->label_smoothing;
  return smoothing > 0 ? " label_smoothing=" + number_text(smoothing) : "";
}

const Shape& check_loss(const ShapeInference& in) {
  in.arity(3);
  const double smoothing = in.attributes<LossAttributes>().label_smoothing;
  if (!(smoothing >= 0 && smoothing < 1)) {
    in.fail("label smoothing " + std::to_string(smoothing) + " must be in [0, 1)");
  }
  const Shape& logits = in.rank(0, 2);
  in.storage(0, Storage::kCompute);
  in.same_as(1, logits);
  in.same_as(2, {logits[0]});
  return logits;
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  const Shape& logits = check_loss(in);
  return {in.made("", {1}, Storage::kF32), in.made(".per_sample", {logits[0]}, Storage::kF32)};
}

std::vector<Value> infer_backward(const ShapeInference& in) {
  return {in.computed(check_loss(in))};
}

// One sample of logits and targets.
struct Sample {
  const double* logits;
  const double* targets;
  std::size_t classes;

  double log_sum_exp() const {
    const double largest = *std::max_element(logits, logits + classes);
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(logits[k] - largest);
    return largest + std::log(sum);
  }
  double target_sum() const {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += targets[k];
    return sum;
  }
  double smoothed(std::size_t k, double smoothing) const {
    return (1 - smoothing) * targets[k] + smoothing / static_cast<double>(classes) * target_sum();
  }
};

Sample sample_of(const ReferenceOperands& o, std::size_t n) {
  const std::size_t classes = o.in(0).size() / o.in(2).size();
  return {&o.in(0)[n * classes], &o.in(1)[n * classes], classes};
}

void forward(const ReferenceOperands& o) {
  const double smoothing = o.attributes<LossAttributes>().label_smoothing;
  const Numbers& weights = o.in(2);
  Numbers& loss = o.out(0);
  Numbers& per_sample = o.out(1);
  loss[0] = 0;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const Sample sample = sample_of(o, n);
    const double normalizer = sample.log_sum_exp();
    per_sample[n] = 0;
    for (std::size_t k = 0; k < sample.classes; ++k) {
      per_sample[n] -= sample.smoothed(k, smoothing) * (sample.logits[k] - normalizer);
    }
    loss[0] += weights[n] * per_sample[n];
  }
}

void backward(const ReferenceOperands& o) {
  const double smoothing = o.attributes<LossAttributes>().label_smoothing;
  const Numbers& weights = o.in(2);
  Numbers& dlogits = o.out(0);
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const Sample sample = sample_of(o, n);
    const double normalizer = sample.log_sum_exp();
    for (std::size_t k = 0; k < sample.classes; ++k) {
      dlogits[n * sample.classes + k] =
          weights[n] * (std::exp(sample.logits[k] - normalizer) * sample.target_sum() -
                        sample.smoothed(k, smoothing));
    }
  }
}

void gradient(GradientBuilder& builder, const Node& node) {
  if (!builder.is_loss(node.outputs[0])) builder.refuse("it is not the loss");
  if (builder.wants(node.inputs[1]) || builder.wants(node.inputs[2])) {
    builder.refuse("its targets and weights must not depend on parameters");
  }
  builder.add_gradient(node.inputs[0], builder.append(kSoftmaxCrossEntropyBackward, "backward",
                                                      node.inputs, node.attributes)[0]);
}

struct CaseOptions {
  double smoothing = 0;
  bool mixed = false;  // targets are weights of two classes, as mixing two images gives
};

void add_cases(CaseTable& table, const std::string& name, std::int64_t n, std::int64_t k,
               const CaseOptions& options) {
  for (const bool backward : {false, true}) {
    CaseMaker made = table.begin();
    Numbers targets(static_cast<std::size_t>(n * k));
    Numbers weights(static_cast<std::size_t>(n));
    const Numbers labels = made.whole_numbers({n, 2}, static_cast<std::uint32_t>(k));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto row = i * static_cast<std::size_t>(k);
      targets[row + static_cast<std::size_t>(labels[2 * i])] += options.mixed ? 0.25 : 1;
      if (options.mixed) targets[row + static_cast<std::size_t>(labels[2 * i + 1])] += 0.75;
      weights[i] = i % 3 == 2 ? 0 : 0.125 * static_cast<double>(1 + i % 2);
    }
    Numbers logits = made.signed_numbers({n, k});
    for (double& logit : logits) logit *= 16;
    const std::vector<ValueId> inputs = {
        made.leaf("logits", {n, k}, logits, ValueKind::kInput, Storage::kCompute),
        made.leaf("targets", {n, k}, targets), made.leaf("weights", {n}, weights)};
    const Operation& op = backward ? kSoftmaxCrossEntropyBackward : kSoftmaxCrossEntropy;
    table.keep(std::move(made).finish(std::string(op.name) + "_" + name, op, inputs,
                                      LossAttributes{options.smoothing}));
  }
}

void cases(CaseTable& table) {
  add_cases(table, "one_hot", 4, 10, {});
  add_cases(table, "smoothed", 5, 7, {.smoothing = 0.1});
  add_cases(table, "mixed", 3, 10, {.mixed = true});
  add_cases(table, "mixed_smoothed", 4, 3, {.smoothing = 0.2, .mixed = true});
  add_cases(table, "one_sample_two_classes", 1, 2, {});
}

}  // namespace

const Operation kSoftmaxCrossEntropy = {.name = "softmax_cross_entropy",
                                        .infer = infer_forward,
                                        .reference = forward,
                                        .text = text,
                                        .gradient = gradient,
                                        .checks = {.cases = cases}};
const Operation kSoftmaxCrossEntropyBackward = {.name = "softmax_cross_entropy_backward",
                                                .infer = infer_backward,
                                                .reference = backward,
                                                .text = text};

}  // namespace winnow::train
