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

// Name of the file that describes a folder with a copy of a cache's shards
// (docs/formats/memory.md). It is written last.
inline constexpr const char* kCopyDescription = "copy.json";

struct CopyDescription {
  std::string cache;  // path of the cache in UTF-8, see common/utf8.h
  std::string cache_digest;
  std::vector<std::uint32_t> shards;
  std::uint64_t of = 0;  // number of shards that the cache has
  Partitions partitions = {};
  std::vector<std::uint64_t> shard_bytes = {};  // size of each file in bytes
  std::optional<std::vector<IdRun>> runs = std::nullopt;
  std::uint64_t of_ids = 0;  // number of ids of the cache; only if `runs` is set

  std::uint64_t bytes() const;
};

// The text of the file that describes a copy of shards.
std::string text_of(const CopyDescription& description);
// Reads the description of a copy. nullopt if it is missing or damaged: then the folder's content
// is unknown. FormatError for one of another version.
std::optional<CopyDescription> read_copy_description(const std::filesystem::path& folder);

// Which records a copy of shards has. Default-constructed for a folder that is not a copy.
struct CopyContents {
  Partitions partitions = {};
  // Ranges of ids with records; nullopt: all ids.
  std::optional<std::vector<IdRun>> runs = std::nullopt;
  // For incomplete copies: size of each shard's file in bytes, by shard number.
  std::map<std::uint32_t, std::uint64_t> bytes = {};

  bool whole() const noexcept { return partitions.all() && !runs; }
  bool has(SampleId id) const noexcept {
    return partitions.has(id) && (!runs || has_id(*runs, id));
  }
};
// The content of a copy. Throws FormatError if `folder` is a copy of a cache with another digest.
CopyContents contents_of_copy(const std::filesystem::path& folder, const std::string& cache_digest);

}  // namespace winnow::pipeline
