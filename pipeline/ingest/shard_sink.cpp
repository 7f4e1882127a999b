#include "pipeline/ingest/shard_sink.h"

#include <algorithm>

#include "common/checksum.h"
#include "common/file.h"

namespace winnow::pipeline {
namespace {

// "shards/00007.mdb"
std::string shard_file(std::size_t shard) {
  std::string number = std::to_string(shard);
  if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
  return "shards/" + number + ".mdb";
}

void seal(lmdb::Writer& writer, const CachePaths& paths, ShardInfo& info) {
  writer.seal();
  const MappedFile file(paths.root / info.file);
  const BytesView bytes = file.bytes();
  info.bytes = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += kBlockBytes) {
    const std::size_t size = std::min<std::size_t>(kBlockBytes, bytes.size() - at);
    info.block_hashes.push_back(to_hex(xxh3_64(bytes.subspan(at, size))));
  }
  fsync_directory(paths.shards());
}

}  // namespace

ShardSink::~ShardSink() {
  if (sealing_.valid()) sealing_.wait();  // it works in this cache's files
}

void ShardSink::put(std::size_t shard, const std::vector<lmdb::Writer::Entry>& packs) {
  if (!writer_) writer_.emplace(paths_.root / shard_file(shard));
  writer_->put(packs);
}

void ShardSink::end_shard(std::size_t shard, Part part) {
  wait();
  sealing_ = std::async(std::launch::async,
                        [paths = paths_, key = key_, shard, part = std::move(part),
                         writer = std::exchange(writer_, std::nullopt)]() mutable -> Sealed {
                          if (writer) {
                            part.info.file = shard_file(shard);
                            seal(*writer, paths, part.info);
                          }
                          write_part(paths, shard, key, part);
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
