#include "train/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/cases.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::string text(const Attributes& attributes) {
  return " heads=" + number_text(attributes.find<AttentionAttributes>()->heads);
}

// Checks the operands and returns the shape of y.
Shape check(const ShapeInference& in) {
  Shape y = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  const std::int64_t heads = in.attributes<AttentionAttributes>().heads;
  if (heads < 1 || y[1] % (3 * heads) != 0) {
    in.fail(number_text(heads) + " heads must divide a third of the " + number_text(y[1]) +
            " features");
  }
  y[1] /= 3;
  return y;
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  in.arity(1);
  return {in.computed(check(in))};
}

std::vector<Value> infer_backward(const ShapeInference& in) {
  in.arity(2);
  in.same_as(1, check(in));
  return {in.computed(in.value(0).shape)};
}

// Where the rows of one head of one sample are stored, one row a token.
struct Head {
  std::size_t tokens, features, width;  // features: of all heads together
  std::size_t x, y;                     // positions of the first query and the first result
  double factor;                        // scale of the scores
  std::size_t query(std::size_t t) const { return x + t * 3 * features; }
  std::size_t key(std::size_t t) const { return query(t) + features; }
  std::size_t value(std::size_t t) const { return query(t) + 2 * features; }
  std::size_t result(std::size_t t) const { return y + t * features; }
};

// Calls f(head) for all heads of all samples of y.
template <class Function>
void for_heads(const Shape& y, std::int64_t heads, Function f) {
  const auto tokens = static_cast<std::size_t>(y[2] * y[3]);
  const auto features = static_cast<std::size_t>(y[1]);
  const std::size_t width = features / static_cast<std::size_t>(heads);
  for (std::size_t n = 0; n < static_cast<std::size_t>(y[0]); ++n) {
    for (std::size_t first = 0; first < features; first += width) {
      const std::size_t at = n * tokens * features;
      f(Head{tokens, features, width, 3 * at + first, at + first,
             1 / std::sqrt(static_cast<double>(width))});
    }
  }
}

double dot(const Numbers& a, std::size_t i, const Numbers& b, std::size_t j, std::size_t count) {
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) sum += a[i + k] * b[j + k];
  return sum;
}

// Attention weights of token t: how much it takes of every token's value.
Numbers shares(const Head& head, const Numbers& x, std::size_t t) {
  Numbers p(head.tokens);
  for (std::size_t u = 0; u < p.size(); ++u) {
    p[u] = head.factor * dot(x, head.query(t), x, head.key(u), head.width);
  }
  const double greatest = *std::ranges::max_element(p);
  double sum = 0;
  for (double& share : p) {
    share = std::exp(share - greatest);
    sum += share;
  }
  for (double& share : p) share /= sum;
  return p;
}

void forward(const ReferenceOperands& o) {
  const Numbers& x = o.in(0);
  Numbers& y = o.out(0);
  std::ranges::fill(y, 0.0);
  for_heads(o.out_shape(0), o.attributes<AttentionAttributes>().heads, [&](const Head& head) {
    for (std::size_t t = 0; t < head.tokens; ++t) {
      const Numbers p = shares(head, x, t);
      for (std::size_t u = 0; u < head.tokens; ++u) {
        for (std::size_t k = 0; k < head.width; ++k) {
          y[head.result(t) + k] += p[u] * x[head.value(u) + k];
        }
      }
    }
  });
}

// Softmax gradient: if p are the shares of token t and dp = dy v^T their gradient, the gradient of
// its scores is p * (dp - p.dp).
void backward_token(const Head& head, const Numbers& x, const Numbers& dy, std::size_t t,
                    Numbers& dx) {
  const Numbers p = shares(head, x, t);
  Numbers dp(head.tokens);
  for (std::size_t u = 0; u < head.tokens; ++u) {
    dp[u] = dot(dy, head.result(t), x, head.value(u), head.width);
  }
  const double mean = dot(p, 0, dp, 0, head.tokens);
  for (std::size_t u = 0; u < head.tokens; ++u) {
    const double score = head.factor * p[u] * (dp[u] - mean);
    for (std::size_t k = 0; k < head.width; ++k) {
      dx[head.query(t) + k] += score * x[head.key(u) + k];
      dx[head.key(u) + k] += score * x[head.query(t) + k];
      dx[head.value(u) + k] += p[u] * dy[head.result(t) + k];
    }
  }
}

void backward(const ReferenceOperands& o) {
  std::ranges::fill(o.out(0), 0.0);
  for_heads(o.in_shape(1), o.attributes<AttentionAttributes>().heads, [&](const Head& head) {
    for (std::size_t t = 0; t < head.tokens; ++t) {
      backward_token(head, o.in(0), o.in(1), t, o.out(0));
    }
  });
}

void gradient(GradientBuilder& builder, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  builder.add_gradient(x,
                       builder.append(kAttentionBackward, "backward", {x, dy}, node.attributes)[0]);
}

// Multiply-adds of one product: all queries with all keys, or all shares with all values.
double product_multiply_adds(const Shape& y) {
  return static_cast<double>(element_count(y)) * static_cast<double>(y[2] * y[3]);
}
double multiply_adds(const Graph& graph, const Node& node) {
  return 2 * product_multiply_adds(graph.value(node.outputs[0]).shape);
}
// The scores are recomputed; then come the gradients of shares, values, queries and keys.
double backward_multiply_adds(const Graph& graph, const Node& node) {
  return 5 * product_multiply_adds(graph.value(node.inputs[1]).shape);
}

void add_cases(CaseTable& table, const std::string& name, const Shape& y,
               const AttentionAttributes& attributes) {
  const Shape x = {y[0], 3 * y[1], y[2], y[3]};
  CaseMaker forward = table.begin();
  const ValueId data = forward.data("x", x);
  table.keep(std::move(forward).finish("attention_" + name, kAttention, {data}, attributes));
  CaseMaker backward = table.begin();
  const std::vector<ValueId> inputs = {backward.data("x", x), backward.data("dy", y)};
  table.keep(std::move(backward).finish("attention_backward_" + name, kAttentionBackward, inputs,
                                        attributes));
}

void cases(CaseTable& table) {
  add_cases(table, "one_head", {2, 5, 7, 1}, {.heads = 1});
  add_cases(table, "heads", {2, 12, 5, 1}, {.heads = 3});
  add_cases(table, "of_one_feature", {1, 3, 6, 1}, {.heads = 3});
  add_cases(table, "one_token", {3, 8, 1, 1}, {.heads = 2});
  add_cases(table, "image", {1, 16, 4, 5}, {.heads = 2});
  add_cases(table, "wide", {2, 64, 17, 1}, {.heads = 2});
  add_cases(table, "many_tokens", {1, 8, 67, 1}, {.heads = 2});
}

}  // namespace

const Operation kAttention = {.name = "attention",
                              .infer = infer_forward,
                              .reference = forward,
                              .text = text,
                              .gradient = gradient,
                              .multiply_adds = multiply_adds,
                              .checks = {.cases = cases}};
const Operation kAttentionBackward = {.name = "attention_backward",
                                      .infer = infer_backward,
                                      .reference = backward,
                                      .text = text,
                                      .multiply_adds = backward_multiply_adds};

}  // namespace winnow::train
