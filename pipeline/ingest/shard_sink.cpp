#include "pipeline/ingest/shard_sink.h"

#include <filesystem>
#include <fstream>
#include <span>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow::pipeline {
namespace {

// "shards/00007.mdb"
std::string shard_file(std::size_t shard) {
  std::string number = std::to_string(shard);
  if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
  return "shards/" + number + ".mdb";
}

// Reads instead of mapping: mapped pages would count as memory of this process.
void hash_blocks(const std::filesystem::path& path, ShardInfo& info) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(kBlockBytes);
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    if (got == 0) break;
    info.bytes += got;
    info.block_hashes.push_back(to_hex(xxh3_64(std::as_bytes(std::span(block.data(), got)))));
  } while (file);
  if (!file.eof() || info.bytes != std::filesystem::file_size(path)) {
    throw SystemError("cannot read " + path.string() + " back after writing it");
  }
}

void seal(lmdb::Writer& writer, const CachePaths& paths, ShardInfo& info) {
  writer.seal();
  hash_blocks(paths.root / info.file, info);
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
          seal(*writer, paths, part.info);
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
