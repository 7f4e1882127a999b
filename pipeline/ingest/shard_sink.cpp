#include "pipeline/ingest/shard_sink.h"

#include "pipeline/store/shard_file.h"

namespace winnow::pipeline {

ShardSink::~ShardSink() {
  if (sealing_.valid()) sealing_.wait();  // it works in this cache's files
}

void ShardSink::put(const std::string& shard, const std::vector<lmdb::Writer::Entry>& packs) {
  if (!writer_) writer_.emplace(paths_.root / shard_file(shard));
  writer_->put(packs);
}

void ShardSink::add(const std::string& shard, const std::vector<LedgerRow>& ledger,
                    const dedup::Fingerprints& fingerprints) {
  if (!part_writer_) part_writer_ = std::make_unique<PartWriter>(paths_, shard, key_);
  part_writer_->append(ledger, fingerprints);
}

void ShardSink::end_shard(const std::string& shard, Part part) {
  finish();
  sealing_ = std::async(std::launch::async, [paths = paths_, shard, part = std::move(part),
                                             writer = std::exchange(writer_, std::nullopt),
                                             part_writer = std::move(part_writer_)]() mutable {
    if (writer) {
      part.info.file = shard_file(shard);
      writer->seal();
      measure_shard(paths, part.info);
    }
    part_writer->finish(part);
  });
}

void ShardSink::finish() {
  if (sealing_.valid()) sealing_.get();
}

}  // namespace winnow::pipeline
