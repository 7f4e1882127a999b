#include "train/backend/checks.h"

#include <string>

#include "common/error.h"

namespace winnow::train {

void check_binding(const Graph& graph, ValueId id, bool outside, std::size_t elements, bool bytes) {
  if (id < 0 || static_cast<std::size_t>(id) >= graph.values.size()) {
    throw Error("cannot bind value %" + std::to_string(id) +
                ": the graph has no value of this number");
  }
  const Value& value = graph.value(id);
  const std::string what = "cannot bind '" + value.name + "': ";
  if (value.kind == ValueKind::kComputed && !outside) {
    throw Error(what + "it is neither an input nor an output of the graph");
  }
  if ((value.storage == Storage::kU8) != bytes) {
    throw Error(what + "it consists of " + (bytes ? "floats" : "bytes"));
  }
  if (elements != static_cast<std::size_t>(element_count(value.shape))) {
    throw Error(what + "got " + std::to_string(elements) + " elements, but its shape is " +
                to_string(value.shape));
  }
}

void check_range(const Graph& graph, std::size_t next, std::size_t first, std::size_t last) {
  if (first != 0 && first != next) {
    throw Error("nodes must be run in order: the next range begins at " + std::to_string(next) +
                ", not at " + std::to_string(first));
  }
  if (last < first || last > graph.nodes.size()) {
    throw Error("the graph has " + std::to_string(graph.nodes.size()) +
                " nodes, so it cannot be run up to " + std::to_string(last));
  }
}

void check_cpu_dtype(DType compute) {
  if (compute == DType::kTf32) throw UsageError("tf32 exists on graphics cards only; use f32");
}

void throw_unbound(const Value& value) {
  throw Error("'" + value.name + "' is not bound to memory");
}

}  // namespace winnow::train
