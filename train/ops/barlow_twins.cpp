#include "train/ops/barlow_twins.h"

#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/batch_norm.h"
#include "train/ops/cases.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::string text(const Attributes& attributes) {
  return " redundancy=" + number_text(attributes.find<BarlowTwinsAttributes>()->redundancy);
}

const Shape& check(const ShapeInference& in) {
  in.arity(2);
  const double redundancy = in.attributes<BarlowTwinsAttributes>().redundancy;
  if (!(redundancy > 0)) in.fail("redundancy " + number_text(redundancy) + " must be above 0");
  const Shape& z = in.rank(0, 2);
  in.storage(0, Storage::kCompute);
  if (z[0] % 2 != 0 || z[0] < 4) {
    in.fail(std::to_string(z[0]) + " rows are not two views of at least two images");
  }
  in.same_as(1, {z[0]});
  return z;
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  const Shape& z = check(in);
  return {in.made("", {1}, Storage::kF32), in.made(".per_sample", {z[0]}, Storage::kF32)};
}

std::vector<Value> infer_backward(const ShapeInference& in) { return {in.computed(check(in))}; }

// z as N rows of 2D columns: features of the first view, then of the second.
struct Views {
  explicit Views(const ReferenceOperands& o)
      : redundancy(o.attributes<BarlowTwinsAttributes>().redundancy),
        pairs(static_cast<std::size_t>(o.in_shape(0)[0] / 2)),
        features(static_cast<std::size_t>(o.in_shape(0)[1])),
        normal(o.in(0)),
        inverse(2 * features) {
    const auto count = static_cast<double>(pairs);
    for (std::size_t c = 0; c < 2 * features; ++c) {
      double mean = 0;
      double variance = 0;
      for (std::size_t n = 0; n < pairs; ++n) mean += at(n, c) / count;
      for (std::size_t n = 0; n < pairs; ++n) {
        variance += (at(n, c) - mean) * (at(n, c) - mean) / count;
      }
      inverse[c] = 1 / std::sqrt(variance + kTwinsEpsilon);
      for (std::size_t n = 0; n < pairs; ++n) at(n, c) = (at(n, c) - mean) * inverse[c];
    }
  }

  double& at(std::size_t n, std::size_t column) { return normal[n * 2 * features + column]; }
  double correlation(std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t n = 0; n < pairs; ++n) sum += at(n, i) * at(n, features + j);
    return sum / static_cast<double>(pairs);
  }

  double redundancy;
  std::size_t pairs, features;
  Numbers normal;   // z, normalised
  Numbers inverse;  // 1 / standard deviation
};

void forward(const ReferenceOperands& o) {
  Views views(o);
  double loss = 0;
  for (std::size_t i = 0; i < views.features; ++i) {
    for (std::size_t j = 0; j < views.features; ++j) {
      const double c = views.correlation(i, j);
      loss += i == j ? (1 - c) * (1 - c) : views.redundancy * c * c;
    }
  }
  loss /= static_cast<double>(views.features);
  const Numbers& weights = o.in(1);
  o.out(0)[0] = loss * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& sample : o.out(1)) sample = loss;
}

// Gradient with respect to the normalised features.
Numbers gradient_of_normal(Views& views, double weight) {
  const std::size_t d = views.features;
  Numbers gradient(views.normal.size(), 0.0);
  const double share = 2 * weight / static_cast<double>(d * views.pairs);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      const double c = views.correlation(i, j);
      const double slope = share * (i == j ? c - 1 : views.redundancy * c);
      for (std::size_t n = 0; n < views.pairs; ++n) {
        gradient[n * 2 * d + i] += slope * views.at(n, d + j);
        gradient[n * 2 * d + d + j] += slope * views.at(n, i);
      }
    }
  }
  return gradient;
}

void backward(const ReferenceOperands& o) {
  Views views(o);
  const Numbers& weights = o.in(1);
  const Numbers gradient =
      gradient_of_normal(views, std::accumulate(weights.begin(), weights.end(), 0.0));
  Numbers& dz = o.out(0);
  const std::size_t columns = 2 * views.features;
  const auto count = static_cast<double>(views.pairs);
  for (std::size_t c = 0; c < columns; ++c) {
    double mean = 0;
    double mean_product = 0;
    for (std::size_t n = 0; n < views.pairs; ++n) {
      mean += gradient[n * columns + c] / count;
      mean_product += gradient[n * columns + c] * views.at(n, c) / count;
    }
    for (std::size_t n = 0; n < views.pairs; ++n) {
      dz[n * columns + c] =
          views.inverse[c] * (gradient[n * columns + c] - mean - views.at(n, c) * mean_product);
    }
  }
}

void gradient(GradientBuilder& builder, const Node& node) {
  if (!builder.is_loss(node.outputs[0])) builder.refuse("it is not the loss of the net");
  if (builder.wants(node.inputs[1])) {
    builder.refuse("its weights must not depend on parameters");
  }
  builder.add_gradient(node.inputs[0], builder.append(kBarlowTwinsBackward, "backward", node.inputs,
                                                      node.attributes)[0]);
}

struct TwinsCase {
  std::string name;
  std::int64_t pairs, features;
  double redundancy;
};

void add_case(CaseTable& table, const TwinsCase& made) {
  for (const Operation* op : {&kBarlowTwins, &kBarlowTwinsBackward}) {
    CaseMaker maker = table.begin();
    const std::int64_t rows = 2 * made.pairs;
    std::vector<double> weights(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = 0.125 * static_cast<double>(1 + i / 2 % 2);
    }
    const std::vector<ValueId> inputs = {
        maker.leaf("z", {rows, made.features}, maker.signed_numbers({rows, made.features}),
                   ValueKind::kInput, Storage::kCompute),
        maker.leaf("weights", {rows}, weights)};
    table.keep(std::move(maker).finish(std::string(op->name) + "_" + made.name, *op, inputs,
                                       BarlowTwinsAttributes{made.redundancy}));
  }
}

void cases(CaseTable& table) {
  add_case(table, {"few", 3, 5, 0.005});
  add_case(table, {"one_feature", 4, 1, 0.5});
  add_case(table, {"wide", 5, 37, 0.25});
  add_case(table, {"whole_vectors", 9, 32, 0.005});
  // A projector ends in batch norm of vectors.
  NormAttributes relu;
  relu.relu = true;
  CaseMaker maker = table.begin();
  const std::vector<ValueId> inputs = {
      maker.data("x", {6, 19}),
      maker.leaf("scale", {19}, maker.positive_numbers({19}), ValueKind::kParameter),
      maker.parameter("shift", {19})};
  table.keep(std::move(maker).finish("batch_norm_of_vectors", kBatchNorm, inputs, relu));
}

}  // namespace

const Operation kBarlowTwins = {.name = "barlow_twins",
                                .infer = infer_forward,
                                .reference = forward,
                                .text = text,
                                .gradient = gradient,
                                .checks = {.cases = cases}};
const Operation kBarlowTwinsBackward = {
    .name = "barlow_twins_backward", .infer = infer_backward, .reference = backward, .text = text};

}  // namespace winnow::train
