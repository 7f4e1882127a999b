#include "pipeline/ingest/shard_sink.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/checksum.h"
#include "common/file.h"

namespace winnow::pipeline {
namespace {

ShardInfo seal(lmdb::Writer writer, const std::filesystem::path& root, ShardInfo info) {
  writer.seal();
  const MappedFile file(root / info.file);
  const BytesView bytes = file.bytes();
  info.bytes = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += kBlockBytes) {
    const std::size_t size = std::min<std::size_t>(kBlockBytes, bytes.size() - at);
    info.block_hashes.push_back(to_hex(xxh3_64(bytes.subspan(at, size))));
  }
  return info;
}

}  // namespace

std::string shard_file(std::size_t shard) {
  std::string number = std::to_string(shard);
  if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
  return "shards/" + number + ".mdb";
}

ShardSink::~ShardSink() {
  if (sealing_.valid()) sealing_.wait();  // it works in this cache's files
}

void ShardSink::put(std::size_t shard, const std::vector<lmdb::Writer::Entry>& packs) {
  if (!writer_) writer_.emplace(paths_.root / shard_file(shard));
  writer_->put(packs);
}

void ShardSink::end_shard(ShardInfo info) {
  wait();
  sealing_ = std::async(std::launch::async, seal, *std::exchange(writer_, std::nullopt),
                        paths_.root, std::move(info));
}

void ShardSink::wait() {
  if (sealing_.valid()) shards_.push_back(sealing_.get());
}

std::vector<ShardInfo> ShardSink::finish() {
  wait();
  return std::move(shards_);
}

}  // namespace winnow::pipeline
