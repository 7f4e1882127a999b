#pragma once

#include "train/graph/graph.h"
#include "train/nets/local_updates.h"
#include "train/plan/rank_stages.h"

namespace winnow::train {

// The ranks of each stage of a net, as --pipeline and --stage-ranks ask; without a pipeline one
// stage of all ranks. Pure.
//
// In      `forward`: with the heads of its stages; `ranks`: of the job; `sync_bn`: batch norms are
//         over the whole batch
// Throws  UsageError: options that do not go together; fewer ranks than stages; numbers of ranks
//         that are not those of the job
RankStages choose_rank_stages(const LocalOptions& options, bool sync_bn, const Graph& forward,
                              int ranks);

// "stage 1 of 2 on ranks 0 to 2, stage 2 on rank 3", for people.
std::string in_words(const RankStages& stages);

}  // namespace winnow::train
