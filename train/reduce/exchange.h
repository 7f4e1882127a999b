#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Batch norm statistics that the micro-batches of a step exchange, for synchronised batch norm: the
// kSharedMean and kSharedVariance outputs of one node, one after the other.
struct Exchange {
  struct Part {
    ValueId value;
    std::size_t offset;  // offset of the part, in elements
    std::size_t count;
    std::size_t mean;  // for kSharedVariance: offset of its mean; otherwise equal to `offset`
  };
  std::vector<Part> parts;
  std::size_t elements = 0;  // number of elements from one micro-batch
  // Nodes [0, ready_after) compute all of these values, and none of them reads one.
  std::size_t ready_after = 0;
};

// Finds the exchanges of batch norm statistics in a graph, in node order; empty if micro-batches
// exchange nothing. Pure.
// Throws  Error for a variance without the mean to which it refers.
std::vector<Exchange> exchanges_of(const Graph& graph);

// Combines the statistics of micro-batches with equal numbers of samples.
// each  exchange.elements numbers for each micro-batch, in order.
// all   Receives exchange.elements numbers: sums in double, in the order of micro-batches;
//       variances by the formula of Chan, Golub and LeVeque 1979.
void combine(const Exchange& exchange, std::span<const float> each, std::span<float> all) noexcept;

}  // namespace winnow::train
