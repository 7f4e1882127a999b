#include "pipeline/ingest/plan.h"

namespace winnow::pipeline {
namespace {

// Cuts [begin, end) into runs of at most `bytes` and `count`, at least one entry each.
std::vector<ShardRange> cut(const datasets::Listing& entries, ShardRange range, std::uint64_t bytes,
                            std::uint64_t count) {
  std::vector<ShardRange> runs;
  std::uint64_t begin = range.begin;
  std::uint64_t held = 0;
  for (std::uint64_t i = range.begin; i < range.end; ++i) {
    const std::uint64_t more = entries.input_bytes(i);
    const bool full = more > bytes || held > bytes - more || i - begin >= count;
    if (i > begin && full) {
      runs.push_back({begin, i});
      begin = i;
      held = 0;
    }
    held += more;
  }
  if (begin < range.end) runs.push_back({begin, range.end});
  return runs;
}

}  // namespace

std::vector<ShardRange> plan_shards(const datasets::Listing& entries, std::uint64_t shard_bytes) {
  return cut(entries, {0, entries.size()}, shard_bytes, entries.size());
}

std::vector<ChunkPlan> plan_chunks(const datasets::Listing& entries,
                                   std::span<const ShardRange> shards, Store store) {
  std::vector<ChunkPlan> chunks;
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    for (const ShardRange& run : cut(entries, shards[shard], chunk_bytes(store), kChunkEntries)) {
      chunks.push_back({.shard = shard,
                        .begin = run.begin,
                        .end = run.end,
                        .ends_shard = run.end == shards[shard].end});
    }
  }
  return chunks;
}

}  // namespace winnow::pipeline
