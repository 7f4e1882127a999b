#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/lmdb/lmdb.h"
#include "pipeline/store/pack_cutter.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// Writes a shard that records were left out of: those there are, taken one after another, as packs
// and transactions by the rules of docs/formats/shard.md. By one thread. Throws as pack_records()
// and lmdb::Writer do.
class PackWriter {
 public:
  explicit PackWriter(const std::filesystem::path& shard) : writer_(shard) {}

  // Ids ascend. What the record views must stay until finish().
  void put(const RecordView& record) {
    if (cutter_.ends_before(record.payload.size())) close_pack();
    pack_.push_back(record);
  }

  // Nothing else may be called after. The folder is the caller's to sync.
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
  std::vector<RecordView> pack_;  // that is open
  std::vector<lmdb::Writer::Entry> transaction_;
  std::uint64_t bytes_ = 0;  // of the transaction
};

}  // namespace winnow::pipeline
