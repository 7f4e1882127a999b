#pragma once

#include <functional>
#include <vector>

#include "train/backend/backend.h"
#include "train/plan/algorithms.h"

namespace winnow::train {

// Measures all kernels that `backend` has for the layers of `graph`, on one lane that has nothing
// beside it, in the net as it runs.
//
// Turns    each kernel once in a round of all; what takes twice the fastest is measured once
// Seconds  of CPU of the thread, where the lane has one; else of the clock
// Memory   that of a lane, meanwhile
// In       `goes_on`: asked before each turn behind the first round, which ends it. May be empty
// Out      by the name of the layer; empty: the backend tells no kernels
std::vector<LayerTimes> measure_kernels(Backend& backend, const Graph& graph,
                                        const CompileOptions& options, int rounds,
                                        const std::function<bool()>& goes_on);

}  // namespace winnow::train
