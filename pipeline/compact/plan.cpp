#include "pipeline/compact/plan.h"

#include <algorithm>

namespace winnow::pipeline {

std::vector<KeptRun> plan_runs(std::span<const ShardInfo> shards, std::span<const SampleId> kept) {
  std::vector<KeptRun> runs;
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    const auto begin = std::ranges::lower_bound(kept, shards[shard].first_id);
    const auto end = std::ranges::upper_bound(kept, shards[shard].last_id);
    if (begin >= end) continue;
    runs.push_back({shard, static_cast<std::size_t>(begin - kept.begin()),
                    static_cast<std::size_t>(end - kept.begin())});
  }
  return runs;
}

}  // namespace winnow::pipeline
