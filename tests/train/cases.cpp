#include "tests/train/cases.h"

#include <cmath>
#include <utility>

#include "common/rng.h"
#include "train/ops/convolution.h"
#include "train/ops/linear.h"
#include "train/ops/operations.h"

namespace winnow::train {
namespace {

Attributes as_they_are(const ConvAttributes& conv, std::int64_t) { return conv; }

void add_linear_cases(CaseTable& table, std::int64_t n, std::int64_t c, std::int64_t k) {
  LinearAttributes attributes;
  CaseMaker forward = table.begin();
  std::vector<ValueId> in = {forward.data("x", {n, c}), forward.parameter("w", {k, c})};
  table.keep(std::move(forward).finish("linear_wide", kLinear, in, attributes));
  CaseMaker filter = table.begin();
  in = {filter.data("x", {n, c}), filter.data("dy", {n, k})};
  table.keep(std::move(filter).finish("linear_backward_filter_wide", kLinearBackwardWeight, in,
                                      attributes));
  CaseMaker data = table.begin();
  attributes.data_shape = {n, c};
  in = {data.data("dy", {n, k}), data.parameter("w", {k, c})};
  table.keep(
      std::move(data).finish("linear_backward_data_wide", kLinearBackwardData, in, attributes));
}

}  // namespace

std::vector<OpCase> op_cases() {
  CaseTable table;
  for (const Operation* op : operations()) {
    if (op->checks.cases != nullptr) op->checks.cases(table);
  }
  return std::move(table).take();
}

std::vector<OpCase> wide_product_cases() {
  CaseTable table;
  const ConvolutionOperations operations = {kConv2d, kConv2dBackwardData, kConv2dBackwardFilter,
                                            as_they_are};
  const ConvolutionCase rows[] = {
      {"wide_3x3", {4, 64, 8, 8}, {64, 64, 3, 3}, both_axes(1, 1)},
      {"wide_1x1", {4, 64, 8, 8}, {256, 64, 1, 1}, both_axes(1, 0)},
      {"wide_strided_3x3", {4, 64, 8, 8}, {128, 64, 3, 3}, both_axes(2, 1)},
  };
  for (const ConvolutionCase& row : rows) add_convolution_cases(table, operations, row);
  add_linear_cases(table, 64, 256, 128);
  std::vector<OpCase> cases = std::move(table).take();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].inputs = random_inputs(cases[i].graph, 100 + i);
  }
  return cases;
}

std::map<ValueId, std::vector<double>> random_inputs(const Graph& graph, std::uint64_t seed) {
  std::map<ValueId, std::vector<double>> inputs;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.kind == ValueKind::kComputed) continue;
    CounterRng rng(seed, 1, i, RandomUse::kTest);
    const auto rows = static_cast<std::size_t>(value.shape[0]);
    std::vector<double> numbers(static_cast<std::size_t>(element_count(value.shape)));
    const auto columns = static_cast<std::uint32_t>(numbers.size() / rows);
    const double spread = value.shape.size() > 1 ? std::sqrt(6.0 / columns) : 0.25;
    for (double& number : numbers) {
      number = value.storage == Storage::kU8
                   ? rng.below(256)
                   : spread * (2 * rng.uniform() - 1) + (value.init == Init::kOnes ? 1 : 0);
    }
    if (value.name == "weights") numbers.assign(rows, 1.0 / static_cast<double>(rows));
    if (value.name == "targets") {
      numbers.assign(numbers.size(), 0);
      for (std::size_t row = 0; row < rows; ++row) numbers[row * columns + rng.below(columns)] = 1;
    }
    inputs[static_cast<ValueId>(i)] = as_f32(std::move(numbers));
  }
  return inputs;
}

}  // namespace winnow::train
