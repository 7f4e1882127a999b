#pragma once

#include <cstddef>

#include "train/graph/graph.h"

namespace winnow::train {

// Checks of the arguments of Program's functions, shared by all backends. They throw Error, which
// names the value.

// Checks that memory of `elements` floats, or bytes, may be bound to the value `id`.
// outside  Whether the program reads or writes this value in the caller's memory.
// bytes    The memory consists of bytes, not of floats.
void check_binding(const Graph& graph, ValueId id, bool outside, std::size_t elements, bool bytes);

// Checks that nodes [first, last) may run now. `next`: the first node that has not run in this
// step.
void check_range(const Graph& graph, std::size_t next, std::size_t first, std::size_t last);

// Checks that CPUs can compute in this type. Throws UsageError if they cannot.
void check_cpu_dtype(DType compute);

[[noreturn]] void throw_unbound(const Value& value);

}  // namespace winnow::train
