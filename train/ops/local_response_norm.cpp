#include "train/ops/local_response_norm.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/cases.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::string text(const Attributes& attributes) {
  const auto& norm = *attributes.find<LocalResponseNormAttributes>();
  return " size=" + number_text(norm.size) + " alpha=" + number_text(norm.alpha) +
         " beta=" + number_text(norm.beta) + " k=" + number_text(norm.k);
}

const Shape& check_norm(const ShapeInference& in) {
  const auto& norm = in.attributes<LocalResponseNormAttributes>();
  const Shape& x = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  if (norm.size < 1) in.fail("size " + number_text(norm.size) + " must be at least 1");
  if (!(norm.k > 0)) in.fail("k " + number_text(norm.k) + " must be above 0");
  for (const double number : {norm.alpha, norm.beta}) {
    if (!(number >= 0)) in.fail("alpha and beta must be 0 or more, not " + number_text(number));
  }
  return x;
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  in.arity(1);
  return {in.computed(check_norm(in))};
}

std::vector<Value> infer_backward(const ShapeInference& in) {
  in.arity(2);
  const Shape& x = check_norm(in);
  in.same_as(1, x);
  return {in.computed(x)};
}

// The channels of one pixel.
class Pixel {
 public:
  Pixel(const LocalResponseNormAttributes& norm, const double* x, std::int64_t channels)
      : norm_(norm), x_(x), channels_(channels) {}

  // k + alpha/size * sum_j x_j^2, for the neighbours j of channel c.
  double base(std::int64_t c) const {
    double sum = 0;
    for (std::int64_t j = c - norm_.size / 2; j <= c + (norm_.size - 1) / 2; ++j) {
      if (j >= 0 && j < channels_) sum += x_[j] * x_[j];
    }
    return norm_.k + norm_.alpha / norm_.size * sum;
  }
  double factor(std::int64_t c) const { return std::pow(base(c), -norm_.beta); }

  // Sums over all channels c that have j as a neighbour.
  double gradient(const double* dy, std::int64_t j) const {
    double sum = dy[j] * factor(j);
    for (std::int64_t c = j - (norm_.size - 1) / 2; c <= j + norm_.size / 2; ++c) {
      if (c < 0 || c >= channels_) continue;
      sum -=
          2 * norm_.beta * norm_.alpha / norm_.size * x_[j] * dy[c] * x_[c] * factor(c) / base(c);
    }
    return sum;
  }

 private:
  const LocalResponseNormAttributes& norm_;
  const double* x_;
  std::int64_t channels_;
};

// Calls f(pixel, position of its first element).
template <class Function>
void for_pixels(const ReferenceOperands& o, Function f) {
  const std::int64_t channels = o.in_shape(0)[1];
  for (std::size_t at = 0; at < o.in(0).size(); at += static_cast<std::size_t>(channels)) {
    f(Pixel(o.attributes<LocalResponseNormAttributes>(), &o.in(0)[at], channels), at, channels);
  }
}

void forward(const ReferenceOperands& o) {
  for_pixels(o, [&](const Pixel& pixel, std::size_t at, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::size_t i = at + static_cast<std::size_t>(c);
      o.out(0)[i] = o.in(0)[i] * pixel.factor(c);
    }
  });
}

void backward(const ReferenceOperands& o) {
  for_pixels(o, [&](const Pixel& pixel, std::size_t at, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) {
      o.out(0)[at + static_cast<std::size_t>(c)] = pixel.gradient(&o.in(1)[at], c);
    }
  });
}

void gradient(GradientBuilder& builder, const Node& node) {
  const ValueId x = node.inputs[0];
  builder.add_gradient(
      x, builder.append(kLocalResponseNormBackward, "backward",
                        {x, builder.gradient_of(node.outputs[0])}, node.attributes)[0]);
}

void cases(CaseTable& table) {
  struct Row {
    std::string name;
    Shape x;
    LocalResponseNormAttributes norm;
  };
  const Row rows[] = {
      {"five", {2, 12, 3, 4}, {.size = 5, .alpha = 1.5}},
      {"paper", {1, 96, 3, 3}, {.size = 5, .alpha = 5e-4, .k = 2}},
      {"even_size", {2, 17, 2, 3}, {.size = 4, .alpha = 2, .k = 0.5}},
      {"one_channel", {2, 1, 3, 3}, {.size = 3, .alpha = 1}},
      {"wider_than_data", {1, 5, 3, 2}, {.size = 15, .alpha = 4}},
      {"itself_alone", {1, 20, 2, 2}, {.size = 1, .alpha = 1, .beta = 0.5}},
      {"beta_one", {1, 40, 2, 2}, {.size = 3, .alpha = 1, .beta = 1}},
      {"many_pixels", {2, 33, 17, 16}, {.size = 5, .alpha = 1}},
  };
  for (const auto& [name, x, norm] : rows) {
    CaseMaker made = table.begin();
    const std::vector<ValueId> inputs = {made.data("x", x)};
    table.keep(
        std::move(made).finish("local_response_norm_" + name, kLocalResponseNorm, inputs, norm));
    CaseMaker back = table.begin();
    const std::vector<ValueId> operands = {back.data("x", x), back.data("dy", x)};
    table.keep(std::move(back).finish("local_response_norm_backward_" + name,
                                      kLocalResponseNormBackward, operands, norm));
  }
}

}  // namespace

const Operation kLocalResponseNorm = {.name = "local_response_norm",
                                      .infer = infer_forward,
                                      .reference = forward,
                                      .text = text,
                                      .gradient = gradient,
                                      .checks = {.cases = cases}};
const Operation kLocalResponseNormBackward = {.name = "local_response_norm_backward",
                                              .infer = infer_backward,
                                              .reference = backward,
                                              .text = text};

}  // namespace winnow::train
