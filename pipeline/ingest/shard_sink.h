#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/lmdb/lmdb.h"
#include "pipeline/ingest/part.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// Writes shards and their parts one after another. Sealing one (sync, hashes of its blocks, part)
// goes on beside the next being written. Not for several threads at once, but for any thread.
class ShardSink {
 public:
  ShardSink(CachePaths paths, std::string key) : paths_(std::move(paths)), key_(std::move(key)) {}
  ~ShardSink();
  ShardSink(const ShardSink&) = delete;
  ShardSink& operator=(const ShardSink&) = delete;

  // One transaction of packs, keys ascending, for shard number `shard`, begun by the first call
  // that names it. Where transactions end shows in the file: the caller cuts them by a fixed rule.
  void put(std::size_t shard, const std::vector<lmdb::Writer::Entry>& packs);
  // Likewise, the rows of its inputs; every shard has some.
  void add(std::size_t shard, const std::vector<LedgerRow>& ledger,
           const dedup::Fingerprints& fingerprints);
  // No more comes for it. `part` is complete but for the shard's file, bytes and block_hashes,
  // which stay empty where nothing was put.
  void end_shard(std::size_t shard, Part part);
  // Waits for what is being sealed; all parts ended here, in order, with their shards' numbers.
  std::vector<std::pair<std::size_t, Part>> finish();

 private:
  using Sealed = std::pair<std::size_t, Part>;
  void wait();

  CachePaths paths_;
  std::string key_;
  std::optional<lmdb::Writer> writer_;
  std::unique_ptr<PartWriter> part_writer_;
  std::future<Sealed> sealing_;
  std::vector<Sealed> parts_;
};

}  // namespace winnow::pipeline
