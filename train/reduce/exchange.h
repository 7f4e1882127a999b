#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// What the micro-batches of a step tell each other in its midst: the kSharedMean and
// kSharedVariance outputs of one node, one behind the other.
struct Exchange {
  struct Part {
    ValueId value;
    std::size_t offset;  // elements
    std::size_t count;
    std::size_t mean;  // of kSharedVariance: the offset of its mean; otherwise `offset`
  };
  std::vector<Part> parts;
  std::size_t elements = 0;     // of a micro-batch
  std::size_t ready_after = 0;  // nodes [0, ready_after) write all of it; none of them reads it
};

// Those of a graph, in the order of its nodes; empty: micro-batches share nothing. Pure.
// Throws Error: a variance without the mean that it is about
std::vector<Exchange> exchanges_of(const Graph& graph);

// What is so of all micro-batches together, which have equal numbers of samples.
// In    `each`: exchange.elements of each micro-batch, in their order
// Out   `all`: exchange.elements. Sums in double in the order of micro-batches; variances by the
//       formula of Chan, Golub and LeVeque 1979.
void combine(const Exchange& exchange, std::span<const float> each, std::span<float> all) noexcept;

}  // namespace winnow::train
