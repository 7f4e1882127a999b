#include "train/ops/group_norm.h"

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
  const auto& norm = *attributes.find<GroupNormAttributes>();
  return " groups=" + number_text(norm.groups) + " epsilon=" + number_text(norm.epsilon);
}

// Checks x and its scale.
const Shape& check_norm(const ShapeInference& in, std::size_t inputs) {
  const auto& norm = in.attributes<GroupNormAttributes>();
  in.arity(inputs);
  const Shape& x = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  if (!(norm.epsilon > 0)) in.fail("epsilon must be > 0");
  if (norm.groups < 1 || x[1] % norm.groups != 0) {
    in.fail(number_text(norm.groups) + " groups must divide the " + number_text(x[1]) +
            " channels");
  }
  in.same_as(1, {x[1]});
  return x;
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  const Shape& x = check_norm(in, 3);
  in.same_as(2, {x[1]});
  const Shape statistics = {x[0], in.attributes<GroupNormAttributes>().groups};
  return {in.computed(x), in.made(".mean", statistics, Storage::kF32),
          in.made(".variance", statistics, Storage::kF32)};
}

std::vector<Value> infer_backward(const ShapeInference& in) {
  const Shape& x = check_norm(in, 5);
  const Shape statistics = {x[0], in.attributes<GroupNormAttributes>().groups};
  in.same_as(2, statistics);
  in.same_as(3, statistics);
  in.same_as(4, x);
  return {in.computed(x), in.made(".scale", {x[1]}, Storage::kF32),
          in.made(".shift", {x[1]}, Storage::kF32)};
}

// Maps an element in NHWC to its channel, and to its group among those of all samples.
struct Groups {
  std::size_t channels, sample_size, groups;

  std::size_t count() const { return sample_size / groups; }  // elements of one group
  std::size_t channel(std::size_t i) const { return i % channels; }
  std::size_t group(std::size_t i) const {
    return i / sample_size * groups + channel(i) / (channels / groups);
  }
};

Groups groups_of(const ReferenceOperands& o) {
  const Shape& x = o.in_shape(0);
  return {static_cast<std::size_t>(x[1]), o.in(0).size() / static_cast<std::size_t>(x[0]),
          static_cast<std::size_t>(o.attributes<GroupNormAttributes>().groups)};
}

void forward(const ReferenceOperands& o) {
  const Groups groups = groups_of(o);
  const double epsilon = o.attributes<GroupNormAttributes>().epsilon;
  const auto count = static_cast<double>(groups.count());
  const Numbers& x = o.in(0);
  Numbers& y = o.out(0);
  Numbers& mean = o.out(1);
  Numbers& variance = o.out(2);
  std::fill(mean.begin(), mean.end(), 0.0);
  std::fill(variance.begin(), variance.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) mean[groups.group(i)] += x[i] / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = x[i] - mean[groups.group(i)];
    variance[groups.group(i)] += difference * difference / count;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t g = groups.group(i);
    const double normal = (x[i] - mean[g]) / std::sqrt(variance[g] + epsilon);
    y[i] = o.in(1)[groups.channel(i)] * normal + o.in(2)[groups.channel(i)];
  }
}

// As for batch norm (Ioffe and Szegedy 2015), with the statistics of a group. With g = scale * dy:
// dx = (g - mean(g) - normal * mean(g * normal)) / sqrt(variance + epsilon).
void backward(const ReferenceOperands& o) {
  const Groups groups = groups_of(o);
  const double epsilon = o.attributes<GroupNormAttributes>().epsilon;
  const auto count = static_cast<double>(groups.count());
  const Numbers& scale = o.in(1);
  const Numbers& dy = o.in(4);
  Numbers& dscale = o.out(1);
  Numbers& dshift = o.out(2);
  const auto inverse = [&](std::size_t i) {
    return 1 / std::sqrt(o.in(3)[groups.group(i)] + epsilon);
  };
  const auto normal = [&](std::size_t i) {
    return (o.in(0)[i] - o.in(2)[groups.group(i)]) * inverse(i);
  };
  std::fill(dscale.begin(), dscale.end(), 0.0);
  std::fill(dshift.begin(), dshift.end(), 0.0);
  Numbers mean_g(o.in(2).size());
  Numbers mean_g_normal(o.in(2).size());
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double g = scale[groups.channel(i)] * dy[i];
    dscale[groups.channel(i)] += dy[i] * normal(i);
    dshift[groups.channel(i)] += dy[i];
    mean_g[groups.group(i)] += g / count;
    mean_g_normal[groups.group(i)] += g * normal(i) / count;
  }
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double g = scale[groups.channel(i)] * dy[i];
    const std::size_t group = groups.group(i);
    o.out(0)[i] = inverse(i) * (g - mean_g[group] - normal(i) * mean_g_normal[group]);
  }
}

void gradient(GradientBuilder& builder, const Node& node) {
  append_sample_norm_gradient(builder, node, kGroupNormBackward);
}

void add_cases(CaseTable& table, const std::string& name, const Shape& x,
               const GroupNormAttributes& a) {
  add_sample_norm_cases(table, kGroupNorm, kGroupNormBackward, {name, x, {x[0], a.groups}, a});
}

void cases(CaseTable& table) {
  add_cases(table, "one_group", {2, 6, 3, 5}, {.groups = 1});
  add_cases(table, "three_groups", {2, 6, 4, 5}, {.groups = 3});
  add_cases(table, "group_a_channel", {3, 5, 4, 3}, {.groups = 5});
  add_cases(table, "one_sample_odd", {1, 21, 3, 7}, {.groups = 7, .epsilon = 1e-3});
  add_cases(table, "wide", {2, 64, 3, 3}, {.groups = 32});
  add_cases(table, "wide_odd", {2, 51, 5, 2}, {.groups = 3});
  add_cases(table, "one_channel", {3, 1, 4, 4}, {.groups = 1});
  add_cases(table, "one_pixel", {4, 24, 1, 1}, {.groups = 2});
}

}  // namespace

const Operation kGroupNorm = {.name = "group_norm",
                              .infer = infer_forward,
                              .reference = forward,
                              .text = text,
                              .gradient = gradient,
                              .checks = {.cases = cases}};
const Operation kGroupNormBackward = {
    .name = "group_norm_backward", .infer = infer_backward, .reference = backward, .text = text};

}  // namespace winnow::train
