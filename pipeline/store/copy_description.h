#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/store/partition.h"
#include "pipeline/store/parts.h"

namespace winnow::pipeline {

// The description of a folder with a copy of a cache's shards (docs/formats/memory.md), which is
// written last.
inline constexpr const char* kCopyDescription = "copy.json";

struct CopyDescription {
  std::string cache;  // its path as UTF-8, see common/utf8.h
  std::string cache_digest;
  std::vector<std::uint32_t> shards;
  std::uint64_t of = 0;  // shards of the cache
  Partitions partitions = {};
  std::vector<std::uint64_t> shard_bytes = {};  // by file
  std::optional<std::vector<IdRun>> runs = std::nullopt;
  std::uint64_t of_ids = 0;  // number of ids of the cache; only with runs

  std::uint64_t bytes() const;
};

// As the file has it.
std::string text_of(const CopyDescription& description);
// nullopt if it is missing or damaged: then the folder's content is unknown. FormatError for one of
// another version.
std::optional<CopyDescription> read_copy_description(const std::filesystem::path& folder);

// The content of a copy. Default-constructed for a folder that is no copy.
struct CopyContents {
  Partitions partitions = {};
  std::optional<std::vector<IdRun>> runs = std::nullopt;  // nullopt: all ids
  // For incomplete copies: size of the file of each shard, by its number.
  std::map<std::uint32_t, std::uint64_t> bytes = {};

  bool whole() const noexcept { return partitions.all() && !runs; }
  bool has(SampleId id) const noexcept {
    return partitions.has(id) && (!runs || has_id(*runs, id));
  }
};
// Throws FormatError if `folder` is a copy of a cache with another digest.
CopyContents contents_of_copy(const std::filesystem::path& folder, const std::string& cache_digest);

}  // namespace winnow::pipeline
