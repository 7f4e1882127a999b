#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <vector>

#include "common/lmdb/lmdb.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// Writes the shards of a cache one after another. Sealing one (sync, hashes of its blocks) goes on
// beside the next being written. Not for several threads at once, but for any thread.
class ShardSink {
 public:
  explicit ShardSink(CachePaths paths) : paths_(std::move(paths)) {}
  ~ShardSink();
  ShardSink(const ShardSink&) = delete;
  ShardSink& operator=(const ShardSink&) = delete;

  // One transaction of packs, keys ascending, for shard number `shard`, begun by the first call
  // that names it. Where transactions end shows in the file: the caller cuts them by a fixed rule.
  void put(std::size_t shard, const std::vector<lmdb::Writer::Entry>& packs);
  // No more comes for it. `info` is complete but for bytes and block_hashes.
  void end_shard(ShardInfo info);
  // Waits for what is being sealed and gives all shards in order.
  std::vector<ShardInfo> finish();

 private:
  void wait();

  CachePaths paths_;
  std::optional<lmdb::Writer> writer_;
  std::future<ShardInfo> sealing_;
  std::vector<ShardInfo> shards_;
};

// "shards/00007.mdb"
std::string shard_file(std::size_t shard);

}  // namespace winnow::pipeline
