#pragma once

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/graph/graph.h"
#include "train/plan/run_plan.h"
#include "train/run/options.h"

namespace winnow::train {

// Chooses the all-reduce algorithms (schedules) of a plan for --schedule auto, and the bucket size
// unless `options` give one. Collective; only rank 0's plan is used.
//
// plan         Complete except for these choices.
// stored       Plan in use by a resumed run; nullptr: none. With as many ranks, its choices are
//              kept.
// One machine  Nothing is measured, so the same options give the same plan. The schedule is
//              hierarchical over memory shared by ranks; multicolor for integers, or without shared
//              memory.
// Several      With several machines, the network is measured. For each power of two of elements,
//              the schedule with the shortest estimated time is chosen. The bucket size is the one
//              with the least waiting after a micro-batch, as measured on rank 0.
void choose_all_reduces(RunPlan& plan, const ExecutionOptions& options, const Graph& graph,
                        Backend& backend, const RunPlan* stored, comm::Communicator& comm);

}  // namespace winnow::train
