#include "train/ops/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/ops/cases.h"

namespace winnow::train {
namespace {

struct Curve {
  ActivationKind kind;
  std::string_view name;
  double (*value)(double x);
  double (*slope)(double x);  // dy/dx; where it jumps, PyTorch's choice of 0 or 1
  // The points where the slope jumps; equal if there are none.
  double first_kink = 0, last_kink = 0;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normal_below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double hard_sigmoid(double x) { return std::clamp(x + 3, 0.0, 6.0) / 6; }

constexpr Curve kCurves[] = {
    {ActivationKind::kRelu6, "relu6", [](double x) { return std::clamp(x, 0.0, 6.0); },
     [](double x) { return x > 0 && x < 6 ? 1.0 : 0.0; }, 0, 6},
    {ActivationKind::kSigmoid, "sigmoid", sigmoid,
     [](double x) { return sigmoid(x) * sigmoid(-x); }},
    {ActivationKind::kHardSigmoid, "hard_sigmoid", hard_sigmoid,
     [](double x) { return x > -3 && x < 3 ? 1.0 / 6 : 0.0; }, -3, 3},
    {ActivationKind::kHardSwish, "hard_swish", [](double x) { return x * hard_sigmoid(x); },
     [](double x) { return x > -3 && x < 3 ? x / 3 + 0.5 : (x >= 3 ? 1.0 : 0.0); }, -3, 3},
    {ActivationKind::kSilu, "silu", [](double x) { return x * sigmoid(x); },
     [](double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }},
    {ActivationKind::kGelu, "gelu", [](double x) { return x * normal_below(x); },
     [](double x) { return normal_below(x) + x * normal_density(x); }},
};

const Curve& curve_of(ActivationKind kind) { return kCurves[static_cast<std::size_t>(kind)]; }

std::string text(const Attributes& attributes) {
  return " " + std::string(name_of(attributes.find<ActivationAttributes>()->kind));
}

template <std::size_t kInputs>
std::vector<Value> infer_activation(const ShapeInference& in) {
  in.arity(kInputs);
  in.attributes<ActivationAttributes>();
  const Shape& shape = in.value(0).shape;
  for (std::size_t i = 0; i < kInputs; ++i) in.same_as(i, shape);
  return {in.computed(shape)};
}

const Curve& curve_of(const ReferenceOperands& o) {
  return curve_of(o.attributes<ActivationAttributes>().kind);
}

void forward(const ReferenceOperands& o) {
  std::ranges::transform(o.in(0), o.out(0).begin(), curve_of(o).value);
}

void backward(const ReferenceOperands& o) {
  const Curve& curve = curve_of(o);
  std::ranges::transform(o.in(0), o.in(1), o.out(0).begin(),
                         [&](double x, double dy) { return dy * curve.slope(x); });
}

void gradient(GradientBuilder& builder, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  builder.add_gradient(
      x, builder.append(kActivationBackward, "backward", {x, dy}, node.attributes)[0]);
}

void sides(const ReferenceOperands& o, std::vector<double>& found) {
  const Curve& curve = curve_of(o);
  if (curve.first_kink == curve.last_kink) return;
  for (const double x : o.in(0)) {
    found.push_back((x > curve.first_kink ? 1 : 0) + (x > curve.last_kink ? 1 : 0));
  }
}

void add_cases(CaseTable& table, const Curve& curve, const std::string& name, const Shape& shape) {
  const ActivationAttributes attributes{curve.kind};
  for (const bool back : {false, true}) {
    CaseMaker made = table.begin();
    std::vector<double> numbers = made.signed_numbers(shape);
    for (double& number : numbers) number *= 8;  // covers all parts of the curve
    std::vector<ValueId> inputs = {
        made.leaf("x", shape, std::move(numbers), ValueKind::kInput, Storage::kCompute)};
    if (back) inputs.push_back(made.data("dy", shape));
    const Operation& op = back ? kActivationBackward : kActivation;
    table.keep(std::move(made).finish(
        std::string(op.name) + "_" + std::string(curve.name) + "_" + name, op, inputs, attributes));
  }
}

void cases(CaseTable& table) {
  for (const Curve& curve : kCurves) {
    add_cases(table, curve, "image", {2, 5, 3, 7});
    add_cases(table, curve, "flat", {3, 19});
    add_cases(table, curve, "one", {1, 1});
  }
}

}  // namespace

std::string_view name_of(ActivationKind kind) noexcept { return curve_of(kind).name; }

const Operation kActivation = {.name = "activation",
                               .infer = infer_activation<1>,
                               .reference = forward,
                               .text = text,
                               .gradient = gradient,
                               .checks = {.cases = cases, .sides = sides}};
const Operation kActivationBackward = {.name = "activation_backward",
                                       .infer = infer_activation<2>,
                                       .reference = backward,
                                       .text = text};

}  // namespace winnow::train
