#pragma once

#include "train/graph/graph.h"
#include "train/nets/local_updates.h"
#include "train/plan/rank_stages.h"

namespace winnow::train {

// Divides the ranks among the stages of a net, as --pipeline and --stage-ranks request. Without a
// pipeline: one stage of all ranks. Pure.
//
// forward  The net's graph, with the local heads (auxiliary classifiers) of its stages.
// ranks    Number of ranks of the job.
// sync_bn  Batch norm statistics are taken over the whole global batch.
// Throws   UsageError: options that do not go together; fewer ranks than stages; numbers of ranks
//          that do not add up to `ranks`.
RankStages choose_rank_stages(const LocalOptions& options, bool sync_bn, const Graph& forward,
                              int ranks);

// Returns user-facing text such as "stage 1 of 2 on ranks 0 to 2, stage 2 on rank 3".
std::string in_words(const RankStages& stages);

}  // namespace winnow::train
