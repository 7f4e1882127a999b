#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/lmdb/lmdb.h"
#include "pipeline/store/pack_cutter.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// Writes a shard that has only some records of another one: divides them into packs and
// transactions by the rules of docs/formats/shard.md. Not thread-safe. Throws as pack_records() and
// lmdb::Writer.
class PackWriter {
 public:
  explicit PackWriter(const std::filesystem::path& shard) : writer_(shard) {}

  // Adds a record. Ids must ascend. The data of its views must live until finish().
  void put(const RecordView& record) {
    if (cutter_.ends_before(record.payload.size())) close_pack();
    pack_.push_back(record);
  }

  // Completes the shard. Must be the last call. The caller syncs the folder.
  void finish() {
    if (!pack_.empty()) close_pack();
    commit();
    writer_.seal();
  }

 private:
  void close_pack() {
    Bytes pack = pack_records(pack_);
    if (bytes_ > 0 && bytes_ + pack.size() > kTransactionBytes) commit();
    bytes_ += pack.size();
    transaction_.emplace_back(pack_.front().id, std::move(pack));
    pack_.clear();
  }

  void commit() {
    writer_.put(transaction_);
    transaction_.clear();
    bytes_ = 0;
  }

  lmdb::Writer writer_;
  PackCutter cutter_;
  std::vector<RecordView> pack_;  // records of the current pack
  std::vector<lmdb::Writer::Entry> transaction_;
  std::uint64_t bytes_ = 0;  // size of the current transaction
};

}  // namespace winnow::pipeline
