#include "train/ops/tokens.h"

#include <algorithm>
#include <string>
#include <vector>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/cases.h"

namespace winnow::train {
namespace {

std::string image_text(const Attributes& attributes) {
  const auto& image = *attributes.find<TokensAttributes>();
  return " image=" + number_text(image.height) + "x" + number_text(image.width);
}

std::string tokens_text(const Attributes& attributes) {
  return " tokens=" + number_text(attributes.find<SelectTokenAttributes>()->tokens);
}

std::vector<Value> infer_tokens(const ShapeInference& in) {
  in.arity(3);
  in.no_attributes();
  const Shape& x = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  const std::int64_t tokens = 1 + x[2] * x[3];
  in.same_as(1, {1, 1, x[1]});
  in.same_as(2, {1, tokens, x[1]});
  return {in.computed({x[0], x[1], tokens, 1})};
}

std::vector<Value> infer_tokens_backward(const ShapeInference& in) {
  in.arity(1);
  const Shape& dy = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  const auto& image = in.attributes<TokensAttributes>();
  in.extent("the width of tokens", dy[3], 1);
  in.extent("the number of tokens", dy[2], 1 + image.height * image.width);
  return {in.computed({dy[0], dy[1], image.height, image.width}),
          in.made(".class", {1, 1, dy[1]}, Storage::kF32),
          in.made(".position", {1, dy[2], dy[1]}, Storage::kF32)};
}

std::vector<Value> infer_select(const ShapeInference& in) {
  in.arity(1);
  in.no_attributes();
  const Shape& x = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  in.extent("the width of tokens", x[3], 1);
  return {in.computed({x[0], x[1]})};
}

std::vector<Value> infer_select_backward(const ShapeInference& in) {
  in.arity(1);
  const Shape& dy = in.rank(0, 2);
  in.storage(0, Storage::kCompute);
  return {in.computed({dy[0], dy[1], in.attributes<SelectTokenAttributes>().tokens, 1})};
}

// Number of elements of one sample's tokens.
std::size_t sample_size(const Shape& tokens) {
  return static_cast<std::size_t>(element_count(tokens) / tokens[0]);
}

void tokens(const ReferenceOperands& o) {
  const std::size_t features = o.in(1).size();
  const std::size_t size = sample_size(o.out_shape(0));
  for (std::size_t i = 0; i < o.out(0).size(); ++i) {
    const std::size_t place = i % size;
    const std::size_t sample = i / size;
    const double token =
        place < features ? o.in(1)[place] : o.in(0)[sample * (size - features) + place - features];
    o.out(0)[i] = token + o.in(2)[place];
  }
}

void tokens_backward(const ReferenceOperands& o) {
  const std::size_t features = o.out(1).size();
  const std::size_t size = sample_size(o.in_shape(0));
  std::ranges::fill(o.out(1), 0.0);
  std::ranges::fill(o.out(2), 0.0);
  for (std::size_t i = 0; i < o.in(0).size(); ++i) {
    const std::size_t place = i % size;
    o.out(2)[place] += o.in(0)[i];
    if (place < features) {
      o.out(1)[place] += o.in(0)[i];
    } else {
      o.out(0)[i / size * (size - features) + place - features] = o.in(0)[i];
    }
  }
}

// Calls f(element of (N,D), the position of the same element among all tokens).
template <class Function>
void for_class_tokens(const Shape& all, Function f) {
  const auto features = static_cast<std::size_t>(all[1]);
  for (std::size_t n = 0; n < static_cast<std::size_t>(all[0]); ++n) {
    for (std::size_t k = 0; k < features; ++k) f(n * features + k, n * sample_size(all) + k);
  }
}

void select(const ReferenceOperands& o) {
  for_class_tokens(o.in_shape(0),
                   [&](std::size_t one, std::size_t all) { o.out(0)[one] = o.in(0)[all]; });
}

void select_backward(const ReferenceOperands& o) {
  std::ranges::fill(o.out(0), 0.0);
  for_class_tokens(o.out_shape(0),
                   [&](std::size_t one, std::size_t all) { o.out(0)[all] = o.in(0)[one]; });
}

void tokens_gradient(GradientBuilder& builder, const Node& node) {
  const Shape& x = builder.value(node.inputs[0]).shape;
  const auto made =
      builder.append(kTokensBackward, "backward", {builder.gradient_of(node.outputs[0])},
                     TokensAttributes{x[2], x[3]});
  builder.add_gradient(node.inputs[1], made[1]);
  builder.add_gradient(node.inputs[2], made[2]);
  builder.add_gradient(node.inputs[0], made[0]);
}

void select_gradient(GradientBuilder& builder, const Node& node) {
  const ValueId x = node.inputs[0];
  const SelectTokenAttributes attributes{builder.value(x).shape[2]};
  builder.add_gradient(x, builder.append(kSelectTokenBackward, "backward",
                                         {builder.gradient_of(node.outputs[0])}, attributes)[0]);
}

void add_cases(CaseTable& table, const std::string& name, const Shape& x) {
  const std::int64_t count = 1 + x[2] * x[3];
  const Shape y = {x[0], x[1], count, 1};
  CaseMaker forward = table.begin();
  std::vector<ValueId> inputs = {forward.data("x", x), forward.parameter("class", {1, 1, x[1]}),
                                 forward.parameter("position", {1, count, x[1]})};
  table.keep(std::move(forward).finish("tokens_" + name, kTokens, inputs, {}));
  CaseMaker backward = table.begin();
  inputs = {backward.data("dy", y)};
  table.keep(std::move(backward).finish("tokens_backward_" + name, kTokensBackward, inputs,
                                        TokensAttributes{x[2], x[3]}));
  CaseMaker select = table.begin();
  inputs = {select.data("x", y)};
  table.keep(std::move(select).finish("select_token_" + name, kSelectToken, inputs, {}));
  CaseMaker place = table.begin();
  inputs = {place.data("dy", {x[0], x[1]})};
  table.keep(std::move(place).finish("select_token_backward_" + name, kSelectTokenBackward, inputs,
                                     SelectTokenAttributes{count}));
}

void cases(CaseTable& table) {
  add_cases(table, "oblong", {2, 5, 3, 2});
  add_cases(table, "one_patch", {3, 4, 1, 1});
  add_cases(table, "wide", {4, 48, 5, 5});
  add_cases(table, "many_patches", {2, 17, 14, 13});
}

}  // namespace

const Operation kTokens = {.name = "tokens",
                           .infer = infer_tokens,
                           .reference = tokens,
                           .gradient = tokens_gradient,
                           .checks = {.cases = cases}};
const Operation kTokensBackward = {.name = "tokens_backward",
                                   .infer = infer_tokens_backward,
                                   .reference = tokens_backward,
                                   .text = image_text};
const Operation kSelectToken = {.name = "select_token",
                                .infer = infer_select,
                                .reference = select,
                                .gradient = select_gradient};
const Operation kSelectTokenBackward = {.name = "select_token_backward",
                                        .infer = infer_select_backward,
                                        .reference = select_backward,
                                        .text = tokens_text};

}  // namespace winnow::train
