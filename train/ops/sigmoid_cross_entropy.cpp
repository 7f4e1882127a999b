#include "train/ops/sigmoid_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "train/graph/text.h"
#include "train/ops/losses.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::string text(const Attributes& attributes) {
  const auto& loss = *attributes.find<SigmoidLossAttributes>();
  return label_smoothing_text(loss.label_smoothing) +
         (loss.gamma > 0 ? " gamma=" + number_text(loss.gamma) : "") +
         (loss.alpha >= 0 ? " alpha=" + number_text(loss.alpha) : "") + (loss.mean ? " mean" : "");
}

template <auto kInfer>
std::vector<Value> infer_as(const ShapeInference& in) {
  const auto& loss = in.attributes<SigmoidLossAttributes>();
  if (!(loss.gamma >= 0)) in.fail("gamma " + number_text(loss.gamma) + " must be 0 or more");
  if (!(loss.alpha <= 1)) in.fail("alpha " + number_text(loss.alpha) + " must be 1 or less");
  return kInfer(in, loss.label_smoothing);
}

// The loss term of one logit. Small quantities are computed directly, not as 1 minus a number near
// 1.
struct Term {
  double p, rest;     // sigmoid, 1 - sigmoid
  double entropy;     // -(t log p + (1-t) log(1-p))
  double wrong;       // 1 - q
  double factor = 1;  // by alpha and gamma

  Term(const SigmoidLossAttributes& loss, double x, double t) {
    const double small = std::exp(-std::abs(x));
    p = (x >= 0 ? 1 : small) / (1 + small);
    rest = (x >= 0 ? small : 1) / (1 + small);
    entropy = std::max(x, 0.0) - t * x + std::log1p(small);
    wrong = p * (1 - t) + rest * t;
    if (loss.alpha >= 0) factor *= loss.alpha * t + (1 - loss.alpha) * (1 - t);
    if (loss.gamma > 0) factor *= std::pow(wrong, loss.gamma);
  }
};

void forward(const ReferenceOperands& o) {
  const auto& attributes = o.attributes<SigmoidLossAttributes>();
  const Numbers& weights = o.in(2);
  Numbers& loss = o.out(0);
  Numbers& per_sample = o.out(1);
  loss[0] = 0;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const LossSample sample = loss_sample(o, n);
    per_sample[n] = 0;
    for (std::size_t k = 0; k < sample.classes; ++k) {
      const Term term(attributes, sample.logits[k], sample.smoothed(k, attributes.label_smoothing));
      per_sample[n] += term.factor * term.entropy;
    }
    if (attributes.mean) per_sample[n] /= static_cast<double>(sample.classes);
    loss[0] += weights[n] * per_sample[n];
  }
}

void backward(const ReferenceOperands& o) {
  const auto& attributes = o.attributes<SigmoidLossAttributes>();
  const Numbers& weights = o.in(2);
  Numbers& dlogits = o.out(0);
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const LossSample sample = loss_sample(o, n);
    const double share =
        attributes.mean ? weights[n] / static_cast<double>(sample.classes) : weights[n];
    for (std::size_t k = 0; k < sample.classes; ++k) {
      const double t = sample.smoothed(k, attributes.label_smoothing);
      const Term term(attributes, sample.logits[k], t);
      // The slope of `wrong`, relative to `wrong`: in [-1, 1].
      const double slope = term.wrong > 0 ? term.p * term.rest * (1 - 2 * t) / term.wrong : 0.0;
      dlogits[n * sample.classes + k] =
          share * term.factor *
          (term.p * (1 - t) - term.rest * t + attributes.gamma * term.entropy * slope);
    }
  }
}

void gradient(GradientBuilder& builder, const Node& node) {
  loss_gradient(builder, node, kSigmoidCrossEntropyBackward);
}

void cases(CaseTable& table) {
  const auto with = [](double smoothing, double gamma, double alpha, bool mean) {
    return SigmoidLossAttributes{{smoothing}, gamma, alpha, mean};
  };
  const LossCase rows[] = {
      {"one_hot", 4, 10, with(0, 0, -1, true)},
      {"sum", 3, 7, with(0, 0, -1, false)},
      {"smoothed", 5, 7, with(0.1, 0, -1, true)},
      {"mixed_smoothed", 4, 3, with(0.2, 0, -1, true), true},
      {"extreme", 3, 5, with(0, 0, -1, true), false, true},
      {"many_classes", 2, 300, with(0, 0, -1, true)},
      {"focal", 4, 10, with(0, 2, 0.25, false)},
      {"focal_mixed_smoothed", 4, 6, with(0.1, 1.5, 0.75, false), true},
      {"focal_without_alpha", 3, 5, with(0, 0.5, -1, true)},
      {"focal_alpha_alone", 3, 5, with(0, 0, 0.25, false)},
      {"focal_extreme", 3, 5, with(0, 2, 0.25, true), false, true},
      {"unlabelled", 4, 6, with(0.1, 0, -1, true), false, false, true},
      {"focal_unlabelled", 4, 6, with(0, 2, 0.25, false), false, true, true},
  };
  for (const LossCase& row : rows) {
    add_loss_cases(table, kSigmoidCrossEntropy, kSigmoidCrossEntropyBackward, row);
  }
}

}  // namespace

const Operation kSigmoidCrossEntropy = {.name = "sigmoid_cross_entropy",
                                        .infer = infer_as<infer_loss>,
                                        .reference = forward,
                                        .text = text,
                                        .gradient = gradient,
                                        .checks = {.cases = cases},
                                        .each_class = true};
const Operation kSigmoidCrossEntropyBackward = {.name = "sigmoid_cross_entropy_backward",
                                                .infer = infer_as<infer_loss_backward>,
                                                .reference = backward,
                                                .text = text};

}  // namespace winnow::train
