#include "pipeline/ingest/shard_sink.h"

#include "common/file.h"
#include "pipeline/store/shard_file.h"

namespace winnow::pipeline {
namespace {

std::string file_to_write(const std::string& shard, bool beside) {
  return shard_file(beside ? shard + ".next" : shard);
}

// Seals a written shard and moves it to its final place.
void measure(const CachePaths& paths, const std::string& shard, bool beside, ShardInfo& info) {
  info.file = file_to_write(shard, beside);
  measure_shard(paths, info);
  if (!beside) return;
  const std::string written = std::exchange(info.file, shard_file(shard));
  info.file = added_shard_file(info);
  move_file(paths.root / written, paths.root / info.file);
}

}  // namespace

ShardSink::~ShardSink() {
  if (sealing_.valid()) sealing_.wait();  // it accesses this cache's files
}

void ShardSink::put(const std::string& shard, const std::vector<lmdb::Writer::Entry>& packs) {
  if (!writer_) writer_.emplace(paths_.root / file_to_write(shard, beside_));
  writer_->put(packs);
}

void ShardSink::add(const std::string& shard, const std::vector<LedgerRow>& ledger,
                    const dedup::Fingerprints& fingerprints) {
  if (!part_writer_) part_writer_ = std::make_unique<PartWriter>(paths_, shard, key_);
  part_writer_->append(ledger, fingerprints);
}

void ShardSink::end_shard(const std::string& shard, Part part) {
  finish();
  sealing_ = std::async(std::launch::async,
                        [paths = paths_, beside = beside_, shard, part = std::move(part),
                         writer = std::exchange(writer_, std::nullopt),
                         part_writer = std::move(part_writer_)]() mutable {
                          if (writer) {
                            writer->seal();
                            measure(paths, shard, beside, part.info);
                          }
                          part_writer->finish(part);
                        });
}

void ShardSink::finish() {
  if (!sealing_.valid()) return;
  sealing_.get();
  ++finished_;
}

}  // namespace winnow::pipeline
