#include "train/ops/scale.h"

#include <algorithm>
#include <string>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/ops/cases.h"
#include "train/ops/images.h"

namespace winnow::train {
namespace {

bool is_of_channels(const Shape& factor) { return factor.size() == 3; }

void check_factor(const ShapeInference& in, const Shape& x, const Shape& factor) {
  if (x.size() != 2 && x.size() != 4) {
    in.fail("data " + to_string(x) + " must have 2 or 4 extents");
  }
  if (factor == Shape{x[0], x[1]} || factor == Shape{x[0], x[1], 1, 1} ||
      factor == Shape{x[1], 1, 1}) {
    return;
  }
  in.fail("the factor " + to_string(factor) +
          " has neither the shape of the samples nor of the channels of " + to_string(x));
}

std::vector<Value> infer_scale(const ShapeInference& in) {
  in.arity(2);
  in.no_attributes();
  const Shape& x = in.value(0).shape;
  check_factor(in, x, in.value(1).shape);
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kCompute);
  return {in.computed(x)};
}

std::vector<Value> infer_factor_gradient(const ShapeInference& in) {
  in.arity(2);
  const Shape& factor = in.attributes<ScaleAttributes>().factor_shape;
  check_factor(in, in.value(0).shape, factor);
  in.storage(0, Storage::kCompute);
  in.same_as(1, in.value(0).shape);
  return {in.made("", factor, is_of_channels(factor) ? Storage::kF32 : Storage::kCompute)};
}

// Calls visit(element, position of its factor).
template <class Visit>
void for_each_element(const Shape& x, const Shape& factor, Visit visit) {
  const ImageLayout layout(x);
  for (std::int64_t n = 0; n < layout.n; ++n) {
    for (std::int64_t h = 0; h < layout.h; ++h) {
      for (std::int64_t w = 0; w < layout.w; ++w) {
        for (std::int64_t c = 0; c < layout.c; ++c) {
          const std::int64_t place = is_of_channels(factor) ? c : n * layout.c + c;
          visit(layout.at(n, c, h, w), static_cast<std::size_t>(place));
        }
      }
    }
  }
}

void scale(const ReferenceOperands& o) {
  for_each_element(o.in_shape(0), o.in_shape(1), [&](std::size_t i, std::size_t place) {
    o.out(0)[i] = o.in(0)[i] * o.in(1)[place];
  });
}

void factor_gradient(const ReferenceOperands& o) {
  std::ranges::fill(o.out(0), 0.0);
  for_each_element(o.in_shape(0), o.out_shape(0), [&](std::size_t i, std::size_t place) {
    o.out(0)[place] += o.in(0)[i] * o.in(1)[i];
  });
}

void gradient(GradientBuilder& builder, const Node& node) {
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  const ValueId x = node.inputs[0];
  const ValueId factor = node.inputs[1];
  if (builder.wants(factor)) {
    builder.add_gradient(factor, builder.append(kScaleFactorGradient, "backward_factor", {x, dy},
                                                ScaleAttributes{builder.value(factor).shape})[0]);
  }
  if (builder.wants(x)) {
    builder.add_gradient(x, builder.append(kScale, "backward", {dy, factor}, {})[0]);
  }
}

void add_cases(CaseTable& table, const std::string& name, const Shape& x, const Shape& factor) {
  CaseMaker forward = table.begin();
  std::vector<ValueId> inputs = {forward.data("x", x)};
  inputs.push_back(is_of_channels(factor) ? forward.parameter("factor", factor)
                                          : forward.data("factor", factor));
  table.keep(std::move(forward).finish("scale_" + name, kScale, inputs, {}));
  CaseMaker backward = table.begin();
  inputs = {backward.data("x", x), backward.data("dy", x)};
  table.keep(std::move(backward).finish("scale_factor_gradient_" + name, kScaleFactorGradient,
                                        inputs, ScaleAttributes{factor}));
}

void cases(CaseTable& table) {
  add_cases(table, "samples", {2, 5, 3, 7}, {2, 5, 1, 1});
  add_cases(table, "samples_wide", {3, 40, 4, 4}, {3, 40, 1, 1});
  add_cases(table, "samples_flat", {3, 19}, {3, 19});
  add_cases(table, "samples_many_pixels", {2, 8, 33, 31}, {2, 8, 1, 1});
  add_cases(table, "channels", {2, 5, 3, 7}, {5, 1, 1});
  add_cases(table, "channels_wide", {3, 64, 5, 4}, {64, 1, 1});
  add_cases(table, "channels_flat", {4, 19}, {19, 1, 1});
}

}  // namespace

const Operation kScale = {.name = "scale",
                          .infer = infer_scale,
                          .reference = scale,
                          .gradient = gradient,
                          .checks = {.cases = cases}};
const Operation kScaleFactorGradient = {
    .name = "scale_factor_gradient", .infer = infer_factor_gradient, .reference = factor_gradient};

}  // namespace winnow::train
