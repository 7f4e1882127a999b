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
// `shard`: its shard_name().
class ShardSink {
 public:
  // `beside`: under the names of shards that are made again (shard_file.h), which their parts say.
  ShardSink(CachePaths paths, std::string key, bool beside = false)
      : paths_(std::move(paths)), key_(std::move(key)), beside_(beside) {}
  ~ShardSink();
  ShardSink(const ShardSink&) = delete;
  ShardSink& operator=(const ShardSink&) = delete;

  // One transaction of packs, keys ascending, begun by the first call that names the shard. Where
  // transactions end shows in the file: the caller cuts them by a fixed rule.
  void put(const std::string& shard, const std::vector<lmdb::Writer::Entry>& packs);
  // Likewise, the rows of its inputs; every shard has some.
  void add(const std::string& shard, const std::vector<LedgerRow>& ledger,
           const dedup::Fingerprints& fingerprints);
  // No more comes for it. `part` is complete but for the shard's file, bytes and block_hashes,
  // which stay empty where nothing was put.
  void end_shard(const std::string& shard, Part part);
  void finish();                                               // waits for what is being sealed
  std::size_t finished() const noexcept { return finished_; }  // shards sealed, as finish() knows

 private:
  CachePaths paths_;
  std::string key_;
  bool beside_;
  std::optional<lmdb::Writer> writer_;
  std::unique_ptr<PartWriter> part_writer_;
  std::future<void> sealing_;
  std::size_t finished_ = 0;
};

}  // namespace winnow::pipeline
