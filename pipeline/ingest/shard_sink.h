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

// Writes shards and their parts (finished states) one after the other. Sealing a shard (sync, block
// hashes, part) overlaps with writing the next one. Not thread-safe, but may be called from any
// thread. `shard` is a shard_name().
class ShardSink {
 public:
  // beside  write shards under the names of rewritten shards (shard_file.h); their parts record
  //         these names
  ShardSink(CachePaths paths, std::string key, bool beside = false)
      : paths_(std::move(paths)), key_(std::move(key)), beside_(beside) {}
  ~ShardSink();
  ShardSink(const ShardSink&) = delete;
  ShardSink& operator=(const ShardSink&) = delete;

  // Writes packs, with ascending keys, in one transaction. The first call with a new name begins
  // the shard. Because transactions affect the file's bytes, the caller must divide packs into
  // calls by a fixed rule.
  void put(const std::string& shard, const std::vector<lmdb::Writer::Entry>& packs);
  // Appends the ledger rows and fingerprints of the shard's inputs. Every shard has some.
  void add(const std::string& shard, const std::vector<LedgerRow>& ledger,
           const dedup::Fingerprints& fingerprints);
  // Ends the shard. `part` is complete except for the shard's file, bytes and block_hashes, which
  // stay empty if nothing was put.
  void end_shard(const std::string& shard, Part part);
  void finish();  // waits until all shards are sealed
  // Number of sealed shards; valid after finish().
  std::size_t finished() const noexcept { return finished_; }

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
