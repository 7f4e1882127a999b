#pragma once

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/graph/graph.h"
#include "train/plan/run_plan.h"
#include "train/run/options.h"

namespace winnow::train {

// --schedule auto: fills in the schedules, and the bucket size unless `options` give one.
// Collective; only rank 0's plan is used.
//
// plan         Complete except for these.
// stored       Plan in use by a resumed run; nullptr: none. With as many ranks, its choices are
//              kept.
// One machine  Nothing is measured, so the same options give the same plan: hierarchical over
//              memory shared by ranks; multicolor for integers, or without shared memory.
// Several      The network is measured. For each power of two of elements, the schedule with the
//              fastest estimate. The bucket size with the least waiting after a micro-batch, as
//              measured on rank 0.
void choose_all_reduces(RunPlan& plan, const ExecutionOptions& options, const Graph& graph,
                        Backend& backend, const RunPlan* stored, comm::Communicator& comm);

}  // namespace winnow::train
