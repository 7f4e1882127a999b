#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "train/graph/graph.h"
#include "train/plan/run_plan.h"

namespace winnow::train {

// Function that returns the seconds of an all-reduce of `count` elements.
using AllReduceSeconds = std::function<double(std::size_t count)>;

// Estimates the seconds that a step waits for its all-reduces after the last node (exposed
// communication). All-reduces run one after the other, each as soon as its bucket of gradients is
// ready. Pure.
// node_ends  Seconds from the start of the last micro-batch to the end of each node.
double exposed_seconds(const Graph& graph, std::size_t bucket_bytes, Sums sums,
                       std::span<const double> node_ends, const AllReduceSeconds& seconds);

// Chooses the bucket size with the least waiting, from 64 KiB to 64 MiB in powers of four; the
// largest in a tie. Pure.
std::size_t choose_bucket_bytes(const Graph& graph, Sums sums, std::span<const double> node_ends,
                                const AllReduceSeconds& seconds);

}  // namespace winnow::train
