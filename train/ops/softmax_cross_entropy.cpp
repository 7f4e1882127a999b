#include "train/ops/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "train/ops/losses.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::string text(const Attributes& attributes) {
  return label_smoothing_text(attributes.find<LossAttributes>()->label_smoothing);
}

template <auto kInfer>
std::vector<Value> infer_as(const ShapeInference& in) {
  return kInfer(in, in.attributes<LossAttributes>().label_smoothing);
}

double log_sum_exp(const LossSample& sample) {
  const double largest = *std::max_element(sample.logits, sample.logits + sample.classes);
  double sum = 0;
  for (std::size_t k = 0; k < sample.classes; ++k) sum += std::exp(sample.logits[k] - largest);
  return largest + std::log(sum);
}

void forward(const ReferenceOperands& o) {
  const double smoothing = o.attributes<LossAttributes>().label_smoothing;
  const Numbers& weights = o.in(2);
  Numbers& loss = o.out(0);
  Numbers& per_sample = o.out(1);
  loss[0] = 0;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const LossSample sample = loss_sample(o, n);
    const double normalizer = log_sum_exp(sample);
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
    const LossSample sample = loss_sample(o, n);
    const double normalizer = log_sum_exp(sample);
    for (std::size_t k = 0; k < sample.classes; ++k) {
      dlogits[n * sample.classes + k] =
          weights[n] * (std::exp(sample.logits[k] - normalizer) * sample.target_sum() -
                        sample.smoothed(k, smoothing));
    }
  }
}

void gradient(GradientBuilder& builder, const Node& node) {
  loss_gradient(builder, node, kSoftmaxCrossEntropyBackward);
}

void cases(CaseTable& table) {
  const LossAttributes sharp;
  const LossCase rows[] = {
      {"one_hot", 4, 10, sharp},
      {"smoothed", 5, 7, LossAttributes{0.1}},
      {"mixed", 3, 10, sharp, true},
      {"mixed_smoothed", 4, 3, LossAttributes{0.2}, true},
      {"one_sample_two_classes", 1, 2, sharp},
  };
  for (const LossCase& row : rows) {
    add_loss_cases(table, kSoftmaxCrossEntropy, kSoftmaxCrossEntropyBackward, row);
  }
}

}  // namespace

const Operation kSoftmaxCrossEntropy = {.name = "softmax_cross_entropy",
                                        .infer = infer_as<infer_loss>,
                                        .reference = forward,
                                        .text = text,
                                        .gradient = gradient,
                                        .checks = {.cases = cases}};
const Operation kSoftmaxCrossEntropyBackward = {.name = "softmax_cross_entropy_backward",
                                                .infer = infer_as<infer_loss_backward>,
                                                .reference = backward,
                                                .text = text};

}  // namespace winnow::train
