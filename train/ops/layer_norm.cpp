#include "train/ops/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/sample_norm.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::string text(const Attributes& attributes) {
  return " epsilon=" + number_text(attributes.find<LayerNormAttributes>()->epsilon);
}

// Checks x and scale.
const Shape& check_norm(const ShapeInference& in, std::size_t inputs) {
  in.arity(inputs);
  const Shape& x = in.value(0).shape;
  if (x.size() != 2 && x.size() != 4) in.fail("data " + to_string(x) + " must have 2 or 4 extents");
  in.storage(0, Storage::kCompute);
  if (!(in.attributes<LayerNormAttributes>().epsilon > 0)) in.fail("epsilon must be > 0");
  in.same_as(1, {x[1]});
  return x;
}

Shape statistics_of(const Shape& x) { return {element_count(x) / x[1]}; }

std::vector<Value> infer_forward(const ShapeInference& in) {
  const Shape& x = check_norm(in, 3);
  in.same_as(2, {x[1]});
  return {in.computed(x), in.made(".mean", statistics_of(x), Storage::kF32),
          in.made(".variance", statistics_of(x), Storage::kF32)};
}

std::vector<Value> infer_backward(const ShapeInference& in) {
  const Shape& x = check_norm(in, 5);
  in.same_as(2, statistics_of(x));
  in.same_as(3, statistics_of(x));
  in.same_as(4, x);
  return {in.computed(x), in.made(".scale", {x[1]}, Storage::kF32),
          in.made(".shift", {x[1]}, Storage::kF32)};
}

// Calls f(pixel, first element of its channels). Channels of a pixel are adjacent.
template <class Function>
void for_rows(const ReferenceOperands& o, Function f) {
  const auto channels = static_cast<std::size_t>(o.in_shape(0)[1]);
  for (std::size_t at = 0; at < o.in(0).size(); at += channels) f(at / channels, at);
}

void forward(const ReferenceOperands& o) {
  const double epsilon = o.attributes<LayerNormAttributes>().epsilon;
  const std::size_t channels = o.in(1).size();
  const auto count = static_cast<double>(channels);
  for_rows(o, [&](std::size_t pixel, std::size_t at) {
    const double* x = &o.in(0)[at];
    double mean = 0;
    double variance = 0;
    for (std::size_t c = 0; c < channels; ++c) mean += x[c] / count;
    for (std::size_t c = 0; c < channels; ++c) variance += (x[c] - mean) * (x[c] - mean) / count;
    for (std::size_t c = 0; c < channels; ++c) {
      o.out(0)[at + c] = o.in(1)[c] * (x[c] - mean) / std::sqrt(variance + epsilon) + o.in(2)[c];
    }
    o.out(1)[pixel] = mean;
    o.out(2)[pixel] = variance;
  });
}

// With g = scale * dy:
// dx = (g - mean(g) - normal * mean(g * normal)) / sqrt(variance + epsilon).
void backward(const ReferenceOperands& o) {
  const double epsilon = o.attributes<LayerNormAttributes>().epsilon;
  const Numbers& scale = o.in(1);
  const auto count = static_cast<double>(scale.size());
  std::ranges::fill(o.out(1), 0.0);
  std::ranges::fill(o.out(2), 0.0);
  for_rows(o, [&](std::size_t pixel, std::size_t at) {
    const double* dy = &o.in(4)[at];
    const double inverse = 1 / std::sqrt(o.in(3)[pixel] + epsilon);
    const auto normal = [&](std::size_t c) { return (o.in(0)[at + c] - o.in(2)[pixel]) * inverse; };
    double mean_g = 0;
    double mean_g_normal = 0;
    for (std::size_t c = 0; c < scale.size(); ++c) {
      o.out(1)[c] += dy[c] * normal(c);
      o.out(2)[c] += dy[c];
      mean_g += scale[c] * dy[c] / count;
      mean_g_normal += scale[c] * dy[c] * normal(c) / count;
    }
    for (std::size_t c = 0; c < scale.size(); ++c) {
      o.out(0)[at + c] = inverse * (scale[c] * dy[c] - mean_g - normal(c) * mean_g_normal);
    }
  });
}

void gradient(GradientBuilder& builder, const Node& node) {
  append_sample_norm_gradient(builder, node, kLayerNormBackward);
}

void add_cases(CaseTable& table, const std::string& name, const Shape& x,
               const LayerNormAttributes& a) {
  add_sample_norm_cases(table, kLayerNorm, kLayerNormBackward, {name, x, statistics_of(x), a});
}

void cases(CaseTable& table) {
  add_cases(table, "image", {2, 6, 3, 5}, {});
  add_cases(table, "epsilon", {1, 21, 3, 2}, {.epsilon = 1e-3});
  add_cases(table, "wide", {2, 64, 5, 4}, {});
  add_cases(table, "wide_odd", {2, 51, 5, 2}, {});
  add_cases(table, "flat", {4, 24}, {});
  add_cases(table, "many_pixels", {2, 17, 14, 13}, {});
}

}  // namespace

const Operation kLayerNorm = {.name = "layer_norm",
                              .infer = infer_forward,
                              .reference = forward,
                              .text = text,
                              .gradient = gradient,
                              .checks = {.cases = cases}};
const Operation kLayerNormBackward = {
    .name = "layer_norm_backward", .infer = infer_backward, .reference = backward, .text = text};

}  // namespace winnow::train
