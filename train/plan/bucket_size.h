#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "train/graph/graph.h"
#include "train/plan/run_plan.h"

namespace winnow::train {

// Seconds of an all-reduce of `count` elements.
using AllReduceSeconds = std::function<double(std::size_t count)>;

// Seconds that a step waits for its all-reduces after the last node, if they run one after the
// other, each as soon as its bucket is ready. Pure.
// node_ends  Seconds from the start of the last micro-batch to the end of each node.
double exposed_seconds(const Graph& graph, std::size_t bucket_bytes, Sums sums,
                       std::span<const double> node_ends, const AllReduceSeconds& seconds);

// The bucket size with the least waiting, of 64 KiB to 64 MiB in powers of four; the largest if
// there is a tie. Pure.
std::size_t choose_bucket_bytes(const Graph& graph, Sums sums, std::span<const double> node_ends,
                                const AllReduceSeconds& seconds);

}  // namespace winnow::train
