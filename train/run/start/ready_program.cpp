#include "train/run/start/ready_program.h"

#include <cstdint>

namespace winnow::train {

ReadyProgram::ReadyProgram(Backend& backend, const Graph& graph, const CompileOptions& options)
    : model_(make_model(graph, 1)),
      weights_(place_weights(backend, model_, {})),
      program_(backend.compile(graph, options)) {
  weights_->bind(*program_);
  for (const ValueId input : graph.of_kind(ValueKind::kInput)) bind(input);
  for (const Output& output : graph.outputs) bind(output.value);
  weights_->load();
  program_->load_parameters();
}

void ReadyProgram::bind(ValueId id) {
  if (!bound_.insert(id).second) return;
  const Value& value = program_->graph().value(id);
  const auto count = static_cast<std::size_t>(element_count(value.shape));
  if (value.storage == Storage::kU8) {
    program_->bind(id, bytes_.emplace_back(count));
  } else {
    program_->bind(id, floats_.emplace_back(count));
  }
}

}  // namespace winnow::train
