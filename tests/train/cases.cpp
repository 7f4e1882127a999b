#include "tests/train/cases.h"

#include <cmath>
#include <utility>

#include "common/rng.h"
#include "train/ops/operations.h"

namespace winnow::train {

std::vector<OpCase> op_cases() {
  CaseTable table;
  for (const Operation* op : operations()) {
    if (op->checks.cases != nullptr) op->checks.cases(table);
  }
  return std::move(table).take();
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
