#pragma once

#include <cstddef>

#include "train/graph/graph.h"

namespace winnow::train {

// Checks of the caller's arguments, shared by all Programs. They throw Error naming the value.

// A caller binds memory of `elements` floats, or bytes, to a value.
// outside  Whether the program reads or writes this value outside.
void check_binding(const Graph& graph, ValueId id, bool outside, std::size_t elements, bool bytes);

// Nodes [first, last) are about to run. `next` is the first one that has not run in this step.
void check_range(const Graph& graph, std::size_t next, std::size_t first, std::size_t last);

// UsageError for a type that CPUs do not support.
void check_cpu_dtype(DType compute);

[[noreturn]] void throw_unbound(const Value& value);

}  // namespace winnow::train
