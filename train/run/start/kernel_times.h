#pragma once

#include <functional>
#include <vector>

#include "train/backend/backend.h"
#include "train/plan/algorithms.h"

namespace winnow::train {

// Measures all kernels that `backend` offers for the layers of `graph`. They run within the whole
// net, on a single lane (replica of the program), with nothing else running.
//
// rounds   Each round measures every kernel once. A kernel whose median exceeds twice the fastest
//          is left out after the first round.
// goes_on  Called before each measurement after the first round; false ends the measurements. May
//          be empty.
// Out      Seconds by layer name: CPU time of the thread if the lane has one thread, else wall
//          time. Empty if the backend lists no kernels.
// Memory   Needs the memory of one lane meanwhile.
std::vector<LayerTimes> measure_kernels(Backend& backend, const Graph& graph,
                                        const CompileOptions& options, int rounds,
                                        const std::function<bool()>& goes_on);

}  // namespace winnow::train
