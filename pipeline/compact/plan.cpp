#include "pipeline/compact/plan.h"

#include <algorithm>

namespace winnow::pipeline {
namespace {

constexpr std::size_t kPackRecords = 64;
constexpr std::uint64_t kPackBytes = 256u << 10;

}  // namespace

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

bool PackCutter::ends_before(std::uint64_t payload_bytes) {
  const bool ends =
      records_ > 0 && (records_ == kPackRecords || bytes_ + payload_bytes > kPackBytes);
  if (ends) *this = {};
  ++records_;
  bytes_ += payload_bytes;
  return ends;
}

}  // namespace winnow::pipeline
