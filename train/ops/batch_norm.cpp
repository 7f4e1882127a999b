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

// The shape of the data: (N,C,H,W) or (N,C).
const Shape& data_of(const ShapeInference& in) {
  const Shape& x = in.value(0).shape;
  return x.size() == 2 ? x : in.rank(0, 4);
}

// Checks x and the `vectors` inputs of C elements that follow it.
const Shape& check_norm(const ShapeInference& in, std::size_t vectors) {
  const auto& norm = in.attributes<NormAttributes>();
  const Shape& x = data_of(in);
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

std::vector<Value> infer_statistics(const ShapeInference& in) {
  in.no_attributes();
  in.arity(1);
  const Shape& x = data_of(in);
  in.storage(0, Storage::kCompute);
  return {in.made(".mean", {x[1]}, Storage::kF32), in.made(".variance", {x[1]}, Storage::kF32)};
}

std::vector<Value> infer_sums(const ShapeInference& in) {
  const bool relu = in.attributes<NormAttributes>().relu;
  in.arity(relu ? 5 : 4);
  const Shape& x = check_norm(in, 2);
  in.same_as(3, x);
  if (relu) in.same_as(4, x);
  const auto made = [&](const char* suffix) { return in.made(suffix, {x[1]}, Storage::kF32); };
  return {made(".scale"), made(".shift"), made(".mean_product"), made(".mean_gradient")};
}

std::vector<Value> infer_input_gradient(const ShapeInference& in) {
  const auto& norm = in.attributes<NormAttributes>();
  in.arity(norm.relu ? 8 : 7);
  const Shape& x = check_norm(in, 3);
  in.same_as(4, x);
  in.same_as(5, {x[1]});
  in.same_as(6, {x[1]});
  if (norm.relu) in.same_as(7, x);
  std::vector<Value> out = {in.computed(x)};
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

// In NHWC, channel c has the elements c, c + C, c + 2C, ...

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

// Inputs: x, scale, shift, and the residual at `residual_at`.
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

void statistics(const ReferenceOperands& o) { batch_statistics(o.in(0), o.out(0), o.out(1)); }

// Inputs of a backward operation, for one element.
struct Backward {
  const Numbers& x;
  const Numbers& mean;
  const Numbers& variance;
  const Numbers& dy;
  const Numbers* y;  // nullptr without relu
  double epsilon;

  std::size_t channel(std::size_t i) const { return i % mean.size(); }
  double count() const { return static_cast<double>(x.size() / mean.size()); }
  double inverse(std::size_t c) const { return 1 / std::sqrt(variance[c] + epsilon); }
  double normal(std::size_t i) const { return (x[i] - mean[channel(i)]) * inverse(channel(i)); }
  double gradient(std::size_t i) const { return y == nullptr || (*y)[i] > 0 ? dy[i] : 0; }
};

void add_up(const Backward& in, Numbers& dscale, Numbers& dshift) {
  std::fill(dscale.begin(), dscale.end(), 0.0);
  std::fill(dshift.begin(), dshift.end(), 0.0);
  for (std::size_t i = 0; i < in.x.size(); ++i) {
    dscale[in.channel(i)] += in.gradient(i) * in.normal(i);
    dshift[in.channel(i)] += in.gradient(i);
  }
}

Numbers divided(Numbers numbers, double by) {
  for (double& number : numbers) number /= by;
  return numbers;
}

// The gradients with respect to the statistics are folded into dx:
// dx = scale / sqrt(variance + epsilon) * (g - mean(g) - normal * mean(g * normal)).
// g is dy times the gradient of the ReLU; means are over N, H, W.
// Source  Ioffe and Szegedy 2015, section 3.
void propagate(const Backward& in, const Numbers& scale, const Numbers& mean_product,
               const Numbers& mean_gradient, Numbers& dx, Numbers* dresidual) {
  for (std::size_t i = 0; i < in.x.size(); ++i) {
    const std::size_t c = in.channel(i);
    dx[i] = scale[c] * in.inverse(c) *
            (in.gradient(i) - mean_gradient[c] - in.normal(i) * mean_product[c]);
    if (dresidual != nullptr) (*dresidual)[i] = in.gradient(i);
  }
}

void backward(const ReferenceOperands& o) {
  const auto& norm = o.attributes<NormAttributes>();
  const Backward in{o.in(0), o.in(2), o.in(3), o.in(4), o.in_if(5, norm.relu), norm.epsilon};
  add_up(in, o.out(1), o.out(2));
  propagate(in, o.in(1), divided(o.out(1), in.count()), divided(o.out(2), in.count()), o.out(0),
            o.out_if(3, norm.relu && norm.residual));
}

void sums(const ReferenceOperands& o) {
  const auto& norm = o.attributes<NormAttributes>();
  const Backward in{o.in(0), o.in(1), o.in(2), o.in(3), o.in_if(4, norm.relu), norm.epsilon};
  add_up(in, o.out(0), o.out(1));
  o.out(2) = divided(o.out(0), in.count());
  o.out(3) = divided(o.out(1), in.count());
}

void input_gradient(const ReferenceOperands& o) {
  const auto& norm = o.attributes<NormAttributes>();
  const Backward in{o.in(0), o.in(2), o.in(3), o.in(4), o.in_if(7, norm.relu), norm.epsilon};
  propagate(in, o.in(1), o.in(5), o.in(6), o.out(0), o.out_if(1, norm.relu && norm.residual));
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

// Inputs of the backward of `forward`: x, scale, mean, variance, dy, [y]. Statistics and y are
// computed from x, so a backend may use either.
std::vector<ValueId> backward_inputs(CaseMaker& made, const OpCase& forward, const Shape& x,
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
  return inputs;
}

OpCase backward_case(CaseMaker made, const OpCase& forward, const std::string& tail, const Shape& x,
                     const NormAttributes& a) {
  const std::vector<ValueId> inputs = backward_inputs(made, forward, x, a);
  return std::move(made).finish("batch_norm_backward_" + tail, kBatchNormBackward, inputs, a);
}

OpCase sums_case(CaseMaker made, const OpCase& forward, const std::string& tail, const Shape& x,
                 const NormAttributes& a) {
  std::vector<ValueId> inputs = backward_inputs(made, forward, x, a);
  inputs.erase(inputs.begin() + 1);  // scale
  return std::move(made).finish("batch_norm_sums_" + tail, kBatchNormSums, inputs, a);
}

OpCase input_gradient_case(CaseMaker made, const OpCase& forward, const std::string& tail,
                           const Shape& x, const NormAttributes& a) {
  std::vector<ValueId> inputs = backward_inputs(made, forward, x, a);
  const Shape channels = {x[1]};
  const std::vector<ValueId> means = {
      made.leaf("mean_product", channels, made.signed_numbers(channels)),
      made.leaf("mean_gradient", channels, made.signed_numbers(channels))};
  inputs.insert(inputs.begin() + 5, means.begin(), means.end());
  return std::move(made).finish("batch_norm_input_gradient_" + tail, kBatchNormInputGradient,
                                inputs, a);
}

// Calls f(end of the case's name, shape of x, attributes).
template <class Function>
void for_each_case(Function f) {
  const auto add = [&](const std::string& name, const Shape& x, double epsilon) {
    for (const bool residual : {false, true}) {
      for (const bool relu : {false, true}) {
        const std::string tail = name + (residual ? "_residual" : "") + (relu ? "_relu" : "");
        f(tail, x, NormAttributes{epsilon, relu, residual});
      }
    }
  };
  add("image", {2, 3, 4, 5}, 1e-5);
  add("one_sample_odd", {1, 17, 3, 7}, 1e-5);
  add("one_channel", {4, 1, 3, 3}, 1e-3);
  add("pixels_of_one", {6, 4, 1, 1}, 1e-5);
}

void cases(CaseTable& table) {
  for_each_case([&](const std::string& tail, const Shape& x, const NormAttributes& a) {
    const OpCase forward = table.keep(forward_case(table.begin(), tail, x, a));
    table.keep(inference_case(table.begin(), tail, x, a));
    table.keep(backward_case(table.begin(), forward, tail, x, a));
  });
}

void cases_in_steps(CaseTable& table) {
  for_each_case([&](const std::string& tail, const Shape& x, const NormAttributes& a) {
    const OpCase forward = forward_case(table.begin(), tail, x, a);
    table.keep(sums_case(table.begin(), forward, tail, x, a));
    table.keep(input_gradient_case(table.begin(), forward, tail, x, a));
    if (a.relu || a.residual) return;
    CaseMaker made = table.begin();
    const ValueId data = made.data("x", x);
    table.keep(
        std::move(made).finish("batch_norm_statistics_" + tail, kBatchNormStatistics, {data}, {}));
  });
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
const Operation kBatchNormStatistics = {.name = "batch_norm_statistics",
                                        .infer = infer_statistics,
                                        .reference = statistics,
                                        .checks = {.cases = cases_in_steps}};
const Operation kBatchNormSums = {
    .name = "batch_norm_sums", .infer = infer_sums, .reference = sums, .text = text};
const Operation kBatchNormInputGradient = {.name = "batch_norm_input_gradient",
                                           .infer = infer_input_gradient,
                                           .reference = input_gradient,
                                           .text = text};

}  // namespace winnow::train
