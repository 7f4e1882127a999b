#pragma once

#include <cstddef>

#include "train/graph/graph.h"

namespace winnow::train {

// What every Program checks of its callers alike. All throw Error naming the value.

// A caller binds `elements` bytes or floats to a value; `outside`: the program reads it from there
// or writes it there.
void check_binding(const Graph& graph, ValueId id, bool outside, std::size_t elements, bool bytes);

// Nodes [first, last) are about to run, `next` being the first that has not since the last time.
void check_range(const Graph& graph, std::size_t next, std::size_t first, std::size_t last);

// Of a program that runs on CPUs. UsageError.
void check_cpu_dtype(DType compute);

[[noreturn]] void throw_unbound(const Value& value);

}  // namespace winnow::train
