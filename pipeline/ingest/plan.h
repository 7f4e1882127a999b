#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/source.h"
#include "pipeline/ingest/ingest.h"

namespace winnow::pipeline {

// What one task reads, decodes and packs: positions [begin, end) of the listing, all in one shard.
// The borders, and with them those of packs and of transactions, depend on the listing and `store`
// alone.
struct ChunkPlan {
  std::size_t shard = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool ends_shard = false;
};

inline constexpr std::uint64_t kChunkEntries = 256;

// Input bytes a chunk is cut at; pixels are several times larger than what they were decoded from.
constexpr std::uint64_t chunk_bytes(Store store) noexcept {
  return store == Store::kRaw ? 1u << 20 : 2u << 20;
}

std::vector<ChunkPlan> plan_chunks(const datasets::Listing& entries,
                                   std::span<const ShardRange> shards, Store store);

}  // namespace winnow::pipeline
