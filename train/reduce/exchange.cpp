#include "train/reduce/exchange.h"

#include <algorithm>
#include <map>

#include "common/error.h"

namespace winnow::train {
namespace {

void append(const Graph& graph, const Output& output, Exchange& exchange) {
  const auto count = static_cast<std::size_t>(element_count(graph.value(output.value).shape));
  Exchange::Part part{output.value, exchange.elements, count, exchange.elements};
  if (output.kind == OutputKind::kSharedVariance) {
    const auto mean = std::ranges::find(exchange.parts, output.of, &Exchange::Part::value);
    if (mean == exchange.parts.end()) {
      throw Error("'" + graph.value(output.value).name +
                  "' is a variance that ranks exchange without its mean");
    }
    part.mean = mean->offset;
  }
  exchange.parts.push_back(part);
  exchange.elements += count;
}

}  // namespace

std::vector<Exchange> exchanges_of(const Graph& graph) {
  std::vector<std::size_t> written_by(graph.values.size(), 0);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].outputs) written_by[static_cast<std::size_t>(id)] = n;
  }
  std::map<std::size_t, Exchange> by_node;
  for (const Output& output : graph.outputs) {
    if (!is_shared(output)) continue;
    append(graph, output, by_node[written_by[static_cast<std::size_t>(output.value)]]);
  }
  std::vector<Exchange> exchanges;
  for (auto& [node, exchange] : by_node) {
    exchange.ready_after = node + 1;
    exchanges.push_back(std::move(exchange));
  }
  return exchanges;
}

void combine(const Exchange& exchange, std::span<const float> each, std::span<float> all) noexcept {
  const std::size_t micro_batches = each.size() / exchange.elements;
  const auto share = 1 / static_cast<double>(micro_batches);
  const auto mean_at = [&](std::size_t element) {
    double sum = 0;
    for (std::size_t m = 0; m < micro_batches; ++m) sum += each[m * exchange.elements + element];
    return sum * share;
  };
  for (const Exchange::Part& part : exchange.parts) {
    for (std::size_t i = 0; i < part.count; ++i) {
      double number = mean_at(part.offset + i);
      if (part.mean != part.offset) {
        const double middle = mean_at(part.mean + i);
        double squares = 0;
        for (std::size_t m = 0; m < micro_batches; ++m) {
          const double apart = each[m * exchange.elements + part.mean + i] - middle;
          squares += apart * apart;
        }
        number += squares * share;
      }
      all[part.offset + i] = static_cast<float>(number);
    }
  }
}

}  // namespace winnow::train
