#include "train/run/start/node_times.h"

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <set>

#include "train/model/model.h"

namespace winnow::train {
namespace {

// Memory for the values that a program reads and writes outside, filled with zeros.
class Outside {
 public:
  void bind(Program& program, ValueId id) {
    if (!bound_.insert(id).second) return;
    const Value& value = program.graph().value(id);
    const auto count = static_cast<std::size_t>(element_count(value.shape));
    if (value.storage == Storage::kU8) {
      program.bind(id, bytes_.emplace_back(count));
    } else {
      program.bind(id, floats_.emplace_back(count));
    }
  }

 private:
  std::set<ValueId> bound_;
  std::list<std::vector<float>> floats_;
  std::list<std::vector<std::uint8_t>> bytes_;
};

std::vector<double> run_once(Program& program) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<double> ends;
  for (std::size_t node = 0; node < program.graph().nodes.size(); ++node) {
    program.run(node, node + 1);
    program.wait(node + 1);
    ends.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return ends;
}

}  // namespace

std::vector<double> measure_node_ends(Backend& backend, const Graph& graph,
                                      const CompileOptions& options) {
  Model model = make_model(graph, 1);
  const std::unique_ptr<WeightStore> weights = place_weights(backend, model, {});
  const std::unique_ptr<Program> program = backend.compile(graph, options);
  weights->bind(*program);
  Outside outside;
  for (const ValueId input : graph.of_kind(ValueKind::kInput)) outside.bind(*program, input);
  for (const Output& output : graph.outputs) outside.bind(*program, output.value);
  weights->load();
  program->load_parameters();
  const std::vector<double> first = run_once(*program);
  const std::vector<double> second = run_once(*program);
  return first.back() < second.back() ? first : second;
}

}  // namespace winnow::train
