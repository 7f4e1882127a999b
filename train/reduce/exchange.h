#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Data that the micro-batches of a step exchange within it: the kSharedMean and kSharedVariance
// outputs of one node, concatenated.
struct Exchange {
  struct Part {
    ValueId value;
    std::size_t offset;  // in elements
    std::size_t count;
    std::size_t mean;  // kSharedVariance: the offset of its mean; otherwise equal to `offset`
  };
  std::vector<Part> parts;
  std::size_t elements = 0;     // for one micro-batch
  std::size_t ready_after = 0;  // nodes [0, ready_after) write all of it, and none of them reads it
};

// The exchanges of a graph, in node order; empty if micro-batches share nothing. Pure.
// Throws Error for a variance without the mean it refers to.
std::vector<Exchange> exchanges_of(const Graph& graph);

// Combines the statistics of micro-batches with equal numbers of samples.
// each  exchange.elements for each micro-batch, in order.
// all   Receives exchange.elements: sums in double in the order of micro-batches; variances by the
//       formula of Chan, Golub and LeVeque 1979.
void combine(const Exchange& exchange, std::span<const float> each, std::span<float> all) noexcept;

}  // namespace winnow::train
