#include "train/ops/dropout.h"

#include <string>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/cases.h"
#include "train/ops/dropout_bits.h"

namespace winnow::train {
namespace {

std::string text(const Attributes& attributes) {
  const auto& dropout = *attributes.find<DropoutAttributes>();
  return " rate=" + number_text(dropout.rate) + (dropout.whole_samples ? " whole_samples" : "") +
         " operation=" + number_text(dropout.operation);
}

std::vector<Value> infer_dropout(const ShapeInference& in) {
  in.arity(2);
  const Shape& x = in.value(0).shape;
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kU8);
  in.same("the keys", in.value(1).shape, {x.at(0), kKeyBytes});
  const double rate = in.attributes<DropoutAttributes>().rate;
  if (!(rate >= 0 && rate < 1)) in.fail("rate " + number_text(rate) + " must be in [0, 1)");
  return {in.computed(x)};
}

std::uint64_t key_of(const std::vector<double>& bytes, std::size_t sample) {
  std::uint64_t key = 0;
  for (std::size_t i = kKeyBytes; i-- > 0;) {
    key = key << 8 | static_cast<std::uint64_t>(bytes[sample * kKeyBytes + i]);
  }
  return key;
}

void dropout(const ReferenceOperands& o) {
  const auto& attributes = o.attributes<DropoutAttributes>();
  const std::uint32_t threshold = dropout_threshold(attributes.rate);
  const std::size_t samples = o.in(1).size() / kKeyBytes;
  const std::size_t elements = o.in(0).size() / samples;
  for (std::size_t n = 0; n < samples; ++n) {
    const std::uint64_t stream = dropout_stream(key_of(o.in(1), n), attributes.operation);
    for (std::size_t i = 0; i < elements; ++i) {
      const bool drops = dropout_bits(stream, attributes.whole_samples ? 0 : i) < threshold;
      o.out(0)[n * elements + i] = drops ? 0 : o.in(0)[n * elements + i] / (1 - attributes.rate);
    }
  }
}

void gradient(GradientBuilder& builder, const Node& node) {
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  builder.add_gradient(node.inputs[0], builder.append(kDropout, "backward", {dy, node.inputs[1]},
                                                      node.attributes)[0]);
}

void add_case(CaseTable& table, const std::string& name, const Shape& x,
              const DropoutAttributes& attributes) {
  CaseMaker made = table.begin();
  const Shape keys = {x[0], kKeyBytes};
  const std::vector<ValueId> inputs = {
      made.data("x", x),
      made.leaf("keys", keys, made.whole_numbers(keys, 256), ValueKind::kInput, Storage::kU8)};
  table.keep(std::move(made).finish("dropout_" + name, kDropout, inputs, attributes));
}

void cases(CaseTable& table) {
  add_case(table, "half", {3, 5, 4, 7}, {.rate = 0.5, .operation = 7});
  add_case(table, "fifth_flat", {4, 33}, {.rate = 0.2, .operation = 0xFFFFFFFFFFFFFFFFU});
  add_case(table, "none", {2, 8}, {.rate = 0});
  add_case(table, "path", {16, 3, 3, 5}, {.rate = 0.3, .whole_samples = true, .operation = 3});
  add_case(table, "many", {2, 16, 40, 30}, {.rate = 0.1, .operation = 1});
}

}  // namespace

std::uint32_t dropout_threshold(double rate) noexcept {
  return static_cast<std::uint32_t>(rate * 4294967296.0);
}

const Operation kDropout = {.name = "dropout",
                            .infer = infer_dropout,
                            .reference = dropout,
                            .text = text,
                            .gradient = gradient,
                            .checks = {.cases = cases}};

}  // namespace winnow::train
