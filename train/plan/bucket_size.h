#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "train/graph/graph.h"
#include "train/plan/run_plan.h"

namespace winnow::train {

// Seconds of an all-reduce of so many elements.
using AllReduceSeconds = std::function<double(std::size_t count)>;

// Seconds that a step waits for its all-reduces after the last node, where they go one after the
// other, each as soon as its bucket is there. Pure.
// In  `node_ends`: seconds from the begin of the last micro-batch to the end of each node
double exposed_seconds(const Graph& graph, std::size_t bucket_bytes, Sums sums,
                       std::span<const double> node_ends, const AllReduceSeconds& seconds);

// The size of buckets, of 64 KiB to 64 MiB by powers of four, that leaves the least to wait for;
// of equal ones the largest. Pure.
std::size_t choose_bucket_bytes(const Graph& graph, Sums sums, std::span<const double> node_ends,
                                const AllReduceSeconds& seconds);

}  // namespace winnow::train
