#include "pipeline/ingest/shard_sink.h"

#include "pipeline/store/shard_file.h"

namespace winnow::pipeline {

ShardSink::~ShardSink() {
  if (sealing_.valid()) sealing_.wait();  // it works in this cache's files
}

void ShardSink::put(std::size_t shard, const std::vector<lmdb::Writer::Entry>& packs) {
  if (!writer_) writer_.emplace(paths_.root / shard_file(shard));
  writer_->put(packs);
}

void ShardSink::add(std::size_t shard, const std::vector<LedgerRow>& ledger,
                    const dedup::Fingerprints& fingerprints) {
  if (!part_writer_) part_writer_ = std::make_unique<PartWriter>(paths_, shard, key_);
  part_writer_->append(ledger, fingerprints);
}

void ShardSink::end_shard(std::size_t shard, Part part) {
  wait();
  sealing_ = std::async(
      std::launch::async,
      [paths = paths_, shard, part = std::move(part), writer = std::exchange(writer_, std::nullopt),
       part_writer = std::move(part_writer_)]() mutable -> Sealed {
        if (writer) {
          part.info.file = shard_file(shard);
          writer->seal();
          measure_shard(paths, part.info);
        }
        part_writer->finish(part);
        return {shard, std::move(part)};
      });
}

void ShardSink::wait() {
  if (sealing_.valid()) parts_.push_back(sealing_.get());
}

std::vector<std::pair<std::size_t, Part>> ShardSink::finish() {
  wait();
  return std::move(parts_);
}

}  // namespace winnow::pipeline
