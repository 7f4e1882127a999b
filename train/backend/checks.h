#pragma once

#include <cstddef>

#include "train/graph/graph.h"

namespace winnow::train {

// Checks that every Program makes of its callers. They throw Error naming the value.

// A caller binds memory of `elements` floats, or bytes, to a value.
// outside   The program reads the value from outside or writes it there.
void check_binding(const Graph& graph, ValueId id, bool outside, std::size_t elements, bool bytes);

// Nodes [first, last) are about to run. `next` is the first that has not run in this step.
void check_range(const Graph& graph, std::size_t next, std::size_t first, std::size_t last);

// UsageError for a type that CPUs do not compute with.
void check_cpu_dtype(DType compute);

[[noreturn]] void throw_unbound(const Value& value);

}  // namespace winnow::train
