#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "common/error.h"
#include "train/graph/graph.h"

namespace winnow::train {

// Function that emits the kernel calls of one node. `Self`: the backend's Lowering.
template <class Self>
using Emitter = void (*)(Self&, const Node&);

template <class Self>
struct EmitterRow {
  std::string_view op;
  Emitter<Self> emit;
};

// Finds the emitter of a node's operation. Throws Error if `rows`, the table of `backend`, lacks
// the operation.
template <class Self>
Emitter<Self> find_emitter(std::span<const EmitterRow<Self>> rows, std::string_view backend,
                           const Node& node) {
  const auto row = std::ranges::find(rows, op_name(node.op), &EmitterRow<Self>::op);
  if (row != rows.end()) return row->emit;
  throw Error("backend " + std::string(backend) + " has no kernel for '" + node.name + "', a " +
              std::string(op_name(node.op)));
}

}  // namespace winnow::train
