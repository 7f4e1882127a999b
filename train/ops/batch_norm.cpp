#include "train/ops/batch_norm.h"

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
  const auto& norm = *attributes.find<NormAttributes>();
  return " epsilon=" + number_text(norm.epsilon) + (norm.residual ? " residual" : "") +
         (norm.relu ? " relu" : "");
}

// x and `vectors` inputs of C elements behind it.
const Shape& check_norm(const ShapeInference& in, std::size_t vectors) {
  const auto& norm = in.attributes<NormAttributes>();
  const Shape& x = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  if (!(norm.epsilon > 0)) in.fail("epsilon must be > 0");
  for (std::size_t i = 1; i <= vectors; ++i) in.same_as(i, {x[1]});
  return x;
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  const bool residual = in.attributes<NormAttributes>().residual;
  in.arity(residual ? 4 : 3);
  const Shape& x = check_norm(in, 2);
  if (residual) in.same_as(3, x);
  return {in.computed(x), in.made(".mean", {x[1]}, Storage::kF32),
          in.made(".variance", {x[1]}, Storage::kF32)};
}

std::vector<Value> infer_backward(const ShapeInference& in) {
  const auto& norm = in.attributes<NormAttributes>();
  in.arity(norm.relu ? 6 : 5);
  const Shape& x = check_norm(in, 3);
  in.same_as(4, x);
  if (norm.relu) in.same_as(5, x);
  std::vector<Value> out = {in.computed(x), in.made(".scale", {x[1]}, Storage::kF32),
                            in.made(".shift", {x[1]}, Storage::kF32)};
  if (norm.relu && norm.residual) out.push_back(in.made(".residual", x, Storage::kCompute));
  return out;
}

std::vector<Value> infer_inference(const ShapeInference& in) {
  const bool residual = in.attributes<NormAttributes>().residual;
  in.arity(residual ? 6 : 5);
  const Shape& x = check_norm(in, 4);
  if (residual) in.same_as(5, x);
  return {in.computed(x)};
}

// In NHWC the elements of channel c lie at c, c + C, c + 2C, ...

void batch_statistics(const Numbers& x, Numbers& mean, Numbers& variance) {
  const double count = static_cast<double>(x.size() / mean.size());
  std::fill(mean.begin(), mean.end(), 0.0);
  std::fill(variance.begin(), variance.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) mean[i % mean.size()] += x[i] / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = x[i] - mean[i % mean.size()];
    variance[i % mean.size()] += difference * difference / count;
  }
}

// Inputs x, scale, shift, and the residual at `residual_at`.
void normalize(const ReferenceOperands& o, const Numbers& mean, const Numbers& variance,
               std::size_t residual_at) {
  const auto& norm = o.attributes<NormAttributes>();
  const Numbers& x = o.in(0);
  const Numbers& scale = o.in(1);
  const Numbers& shift = o.in(2);
  const Numbers* residual = o.in_if(residual_at, norm.residual);
  Numbers& y = o.out(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % scale.size();
    const double normal = (x[i] - mean[c]) / std::sqrt(variance[c] + norm.epsilon);
    y[i] = scale[c] * normal + shift[c] + (residual == nullptr ? 0 : (*residual)[i]);
    if (norm.relu) y[i] = y[i] > 0 ? y[i] : 0;
  }
}

void forward(const ReferenceOperands& o) {
  batch_statistics(o.in(0), o.out(1), o.out(2));
  normalize(o, o.out(1), o.out(2), 3);
}

void inference(const ReferenceOperands& o) { normalize(o, o.in(3), o.in(4), 5); }

// Ioffe & Szegedy 2015, section 3, the gradients with respect to the statistics folded into dx:
// dx = scale / sqrt(variance + epsilon) * (g - mean(g) - normal * mean(g * normal)), where g is dy
// behind the relu and the means are over N, H, W.
void backward(const ReferenceOperands& o) {
  const auto& norm = o.attributes<NormAttributes>();
  const Numbers& x = o.in(0);
  const Numbers& scale = o.in(1);
  const Numbers& mean = o.in(2);
  const Numbers& variance = o.in(3);
  const Numbers& dy = o.in(4);
  const Numbers* y = o.in_if(5, norm.relu);
  Numbers& dx = o.out(0);
  Numbers& dscale = o.out(1);
  Numbers& dshift = o.out(2);
  Numbers* dresidual = o.out_if(3, norm.relu && norm.residual);
  const std::size_t channels = scale.size();
  const double count = static_cast<double>(x.size() / channels);
  const auto gradient = [&](std::size_t i) { return y == nullptr || (*y)[i] > 0 ? dy[i] : 0; };
  const auto normal = [&](std::size_t i) {
    const std::size_t c = i % channels;
    return (x[i] - mean[c]) / std::sqrt(variance[c] + norm.epsilon);
  };
  std::fill(dscale.begin(), dscale.end(), 0.0);
  std::fill(dshift.begin(), dshift.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    dscale[i % channels] += gradient(i) * normal(i);
    dshift[i % channels] += gradient(i);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % channels;
    dx[i] = scale[c] / std::sqrt(variance[c] + norm.epsilon) *
            (gradient(i) - dshift[c] / count - normal(i) * dscale[c] / count);
    if (dresidual != nullptr) (*dresidual)[i] = gradient(i);
  }
}

void gradient(GradientBuilder& builder, const Node& node) {
  const auto& norm = attributes_of<NormAttributes>(node);
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  std::vector<ValueId> inputs = {node.inputs[0], node.inputs[1], node.outputs[1], node.outputs[2],
                                 dy};
  if (norm.relu) inputs.push_back(node.outputs[0]);
  const auto made = builder.append(kBatchNormBackward, "backward", std::move(inputs), norm);
  builder.add_gradient(node.inputs[1], made[1]);
  builder.add_gradient(node.inputs[2], made[2]);
  builder.add_gradient(node.inputs[0], made[0]);
  if (!norm.residual) return;
  if (norm.relu) return builder.add_gradient(node.inputs[3], made[3]);
  builder.pass_gradient(node.inputs[3], dy);
}

void sides(const ReferenceOperands& o, Numbers& sides) {
  if (!o.attributes<NormAttributes>().relu) return;
  for (const double y : o.out(0)) sides.push_back(y > 0 ? 1 : 0);
}

std::vector<ValueId> case_inputs(CaseMaker& made, const Shape& x) {
  return {made.data("x", x), made.parameter("scale", {x[1]}), made.parameter("shift", {x[1]})};
}

OpCase forward_case(CaseMaker made, const std::string& tail, const Shape& x,
                    const NormAttributes& a) {
  std::vector<ValueId> inputs = case_inputs(made, x);
  if (a.residual) inputs.push_back(made.data("residual", x));
  return std::move(made).finish("batch_norm_" + tail, kBatchNorm, inputs, a);
}

OpCase inference_case(CaseMaker made, const std::string& tail, const Shape& x,
                      const NormAttributes& a) {
  std::vector<ValueId> inputs = case_inputs(made, x);
  const Shape channels = {x[1]};
  inputs.push_back(made.leaf("mean", channels, made.signed_numbers(channels), ValueKind::kBuffer));
  inputs.push_back(
      made.leaf("variance", channels, made.positive_numbers(channels), ValueKind::kBuffer));
  if (a.residual) inputs.push_back(made.data("residual", x));
  return std::move(made).finish("batch_norm_inference_" + tail, kBatchNormInference, inputs, a);
}

// Statistics and y are those of x, so that a backend may use either.
OpCase backward_case(CaseMaker made, const OpCase& forward, const std::string& tail, const Shape& x,
                     const NormAttributes& a) {
  const auto values = computed_values(forward);
  const auto value = [&](const char* name) {
    return values[static_cast<std::size_t>(forward.graph.find(name))];
  };
  const Shape channels = {x[1]};
  std::vector<ValueId> inputs = {
      made.leaf("x", x, value("x"), ValueKind::kInput, Storage::kCompute),
      made.leaf("scale", channels, value("scale"), ValueKind::kParameter),
      made.leaf("mean", channels, as_f32(value("y.mean"))),
      made.leaf("variance", channels, as_f32(value("y.variance"))), made.data("dy", x)};
  if (a.relu) {
    inputs.push_back(
        made.leaf("relu_y", x, as_f32(value("y")), ValueKind::kInput, Storage::kCompute));
  }
  return std::move(made).finish("batch_norm_backward_" + tail, kBatchNormBackward, inputs, a);
}

void add_cases(CaseTable& table, const std::string& name, const Shape& x, double epsilon) {
  for (const bool residual : {false, true}) {
    for (const bool relu : {false, true}) {
      const NormAttributes a{epsilon, relu, residual};
      const std::string tail = name + (residual ? "_residual" : "") + (relu ? "_relu" : "");
      const OpCase forward = table.keep(forward_case(table.begin(), tail, x, a));
      table.keep(inference_case(table.begin(), tail, x, a));
      table.keep(backward_case(table.begin(), forward, tail, x, a));
    }
  }
}

void cases(CaseTable& table) {
  add_cases(table, "image", {2, 3, 4, 5}, 1e-5);
  add_cases(table, "one_sample_odd", {1, 17, 3, 7}, 1e-5);
  add_cases(table, "one_channel", {4, 1, 3, 3}, 1e-3);
  add_cases(table, "pixels_of_one", {6, 4, 1, 1}, 1e-5);
}

}  // namespace

const Operation kBatchNorm = {.name = "batch_norm",
                              .infer = infer_forward,
                              .reference = forward,
                              .text = text,
                              .gradient = gradient,
                              .checks = {.cases = cases, .sides = sides}};
const Operation kBatchNormBackward = {
    .name = "batch_norm_backward", .infer = infer_backward, .reference = backward, .text = text};
const Operation kBatchNormInference = {.name = "batch_norm_inference",
                                       .infer = infer_inference,
                                       .reference = inference,
                                       .text = text,
                                       .checks = {.sides = sides}};

}  // namespace winnow::train
