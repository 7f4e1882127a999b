#include "pipeline/compact/plan.h"

#include <algorithm>
#include <utility>

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

LedgerRow left_out(LedgerRow row, const dedup::Selection& selection, std::size_t decision,
                   const std::string& kept_name) {
  const std::string before = std::move(row.reason);
  row.fate = Fate::kDuplicate;
  row.reason = "'" + kept_name + "', id " + std::to_string(selection.kept[decision]) +
               ", stands for it: distance " + std::to_string(selection.distances[decision]) +
               ", rule ";
  row.reason += rule_name(selection.rules[decision]);
  if (!before.empty()) row.reason += "; the decoder warned: " + before;
  return row;
}

}  // namespace winnow::pipeline
