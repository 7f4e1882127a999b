#include "train/step/exchanger.h"

#include <algorithm>
#include <chrono>

namespace winnow::train {

Exchanger::Exchanger(const std::vector<std::unique_ptr<Program>>& programs,
                     const Execution& execution, const std::vector<std::span<float>>& summed,
                     comm::Communicator& comm)
    : execution_(execution), comm_(comm) {
  std::size_t most = 0;
  const Graph& graph = programs.front()->graph();
  const auto in_sums = [&](ValueId value) {
    return std::ranges::find_if(execution.gradients.tensors, [&](const auto& tensor) {
      return graph.outputs[tensor.output].value == value;
    });
  };
  for (const std::unique_ptr<Program>& program : programs) {
    Lane& lane = lanes_.emplace_back(Lane{*program});
    const std::span<float> sums = summed[lanes_.size() - 1];
    for (const Exchange& exchange : execution.exchanges) {
      most = std::max(most, exchange.elements);
      std::vector<std::span<float>>& parts = lane.parts.emplace_back();
      for (const Exchange::Part& part : exchange.parts) {
        const auto tensor = in_sums(part.value);
        if (tensor != execution.gradients.tensors.end()) {
          parts.push_back(sums.subspan(tensor->offset, tensor->count));
        } else {
          parts.emplace_back(own_.emplace_back(part.count));
          program->bind(part.value, parts.back());
        }
      }
    }
  }
  each_.resize(most * static_cast<std::size_t>(execution.total_micro_batches));
  all_.resize(most);
}

void Exchanger::run(std::size_t index) {
  const Exchange& exchange = execution_.exchanges[index];
  const auto micro_batches = static_cast<std::size_t>(execution_.total_micro_batches);
  const auto each = std::span(each_).first(micro_batches * exchange.elements);
  const auto all = std::span(all_).first(exchange.elements);
  // Adding zeros is exact, so the order of additions does not matter.
  std::ranges::fill(each, 0.0F);
  auto mine =
      each.subspan(static_cast<std::size_t>(execution_.first_micro_batch) * exchange.elements);
  for (Lane& lane : lanes_) {
    lane.program.wait(exchange.ready_after);
    for (std::size_t p = 0; p < exchange.parts.size(); ++p) {
      std::ranges::copy(lane.parts[index][p], mine.subspan(exchange.parts[p].offset).begin());
    }
    mine = mine.subspan(exchange.elements);
  }
  const auto begin = std::chrono::steady_clock::now();
  comm_.start_all_reduce(each, execution_.transfers.exchanges[index]).wait();
  waited_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  combine(exchange, each, all);
  for (Lane& lane : lanes_) {
    for (std::size_t p = 0; p < exchange.parts.size(); ++p) {
      const Exchange::Part& part = exchange.parts[p];
      std::ranges::copy(all.subspan(part.offset, part.count), lane.parts[index][p].begin());
    }
  }
}

}  // namespace winnow::train
