#include "pipeline/store/shard_file.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <vector>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow::pipeline {

std::string shard_file(const std::string& shard) { return "shards/" + shard + ".mdb"; }

std::string shard_name(const ShardInfo& shard) {
  return std::filesystem::path(shard.file).stem().string();
}

std::string added_shard_file(const ShardInfo& shard) {
  std::string blocks;
  for (const std::string& hash : shard.block_hashes) blocks += hash;
  return shard_file(shard_name(shard) + "." + to_hex(xxh3_128(as_bytes(blocks))));
}

std::filesystem::path path_of(const CachePaths& paths, const ShardInfo& shard) {
  const std::filesystem::path added = paths.root / added_shard_file(shard);
  std::error_code ignored;
  return std::filesystem::exists(added, ignored) ? added : paths.root / shard.file;
}

// Reads instead of mapping: mapped pages would count as memory of this process.
void measure_shard(const CachePaths& paths, ShardInfo& info) {
  const std::filesystem::path path = paths.root / info.file;
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
  fsync_directory(paths.shards());
}

}  // namespace winnow::pipeline
