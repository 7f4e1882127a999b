#pragma once

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/graph/graph.h"
#include "train/plan/run_plan.h"
#include "train/run/options.h"

namespace winnow::train {

// --schedule auto: fills in the schedules, and the size of buckets where `options` give none.
//
// In       `plan`: complete but for these
//          `stored`: in force, of a run that goes on; null: none. With as many ranks its choices
//          hold
// One machine   nothing is measured, so the same options give the same plan: hierarchical over
//               memory that ranks share; multicolor for whole numbers, or where no memory is shared
// Several       for all-reduces of each power of two of elements, the fastest that the clock
//               foretells on the network as measured now; and the size of buckets that leaves the
//               least to wait for after a micro-batch as measured now on rank 0
// Ranks    collective; rank 0's plan is right, the others' need not be
void choose_all_reduces(RunPlan& plan, const ExecutionOptions& options, const Graph& graph,
                        Backend& backend, const RunPlan* stored, comm::Communicator& comm);

}  // namespace winnow::train
