#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"
#include "datasets/source.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

class Cache;

// Bytes of inputs, by their positions, that are to count instead of those listed.
using OtherBytes = std::map<std::uint64_t, std::uint64_t>;

// A source and its place in a cache.
struct PlacedSource {
  const datasets::Source* source = nullptr;
  std::uint32_t ordinal = 0;
  SourceInfo info;
  std::vector<std::int32_t> training_labels;  // of its classes; empty: as they are
  std::span<const SampleId> left_out{};       // ids of its inputs that are not read, ascending
  // Of which the records are taken, but for those of the ids `again`, ascending; null: none.
  const Cache* base = nullptr;
  std::span<const SampleId> again{};
  const OtherBytes* other_bytes = nullptr;

  SampleId id_of(std::uint64_t position) const noexcept {
    return make_sample_id(ordinal, position);
  }
  bool is_left_out(std::uint64_t position) const noexcept {
    return std::binary_search(left_out.begin(), left_out.end(), id_of(position));
  }
  bool is_in_base(std::uint64_t position) const noexcept {
    return base != nullptr && !std::binary_search(again.begin(), again.end(), id_of(position));
  }
  bool is_read(std::uint64_t position) const noexcept {
    return !is_left_out(position) && !is_in_base(position);
  }
  std::uint64_t input_bytes(std::uint64_t position) const {
    if (other_bytes != nullptr) {
      const auto other = other_bytes->find(position);
      if (other != other_bytes->end()) return other->second;
    }
    return source->entries().input_bytes(position);
  }
};

// A source and all that the manifest says of it, which takes reading its whole listing.
struct DescribedSource {
  const datasets::Source* source = nullptr;
  SourceInfo info;
};
DescribedSource describe(const IngestSource& source);
// Of the same name, format and listing.
bool is_same(const SourceInfo& a, const SourceInfo& b) noexcept;

// As SourceInfo says it, of the listing with those other bytes.
std::string listing_hash(const datasets::Source& source, const OtherBytes& other_bytes = {});

// Where each of `names` is in `classes`, which grows by those it has not; empty where that is where
// they are already.
std::vector<std::int32_t> map_classes(std::span<const std::string> names,
                                      std::vector<std::string>& classes);

// Gives sources the ordinals that follow those of `manifest`, and adds them, their inputs and their
// classes to it: a class it has by name keeps its training label, others get the next ones, so that
// labels of before never change. UsageError for more sources than ids have room for.
std::vector<PlacedSource> place_sources(std::vector<DescribedSource> sources, Manifest& manifest);
std::vector<PlacedSource> place_sources(std::span<const IngestSource> sources, Manifest& manifest);

// A shard's part of the inputs: positions [begin, end) of one source.
struct ShardPlan {
  std::size_t source = 0;  // among those placed
  std::size_t number = 0;  // among the shards of its source
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// "00007" of the first source of a cache, "2-00007" of the third: files and parts are named so.
std::string shard_name(const PlacedSource& source, const ShardPlan& shard);

// Cuts the sources into shards by input bytes, before anything is opened. Pure.
std::vector<ShardPlan> plan_shards(std::span<const PlacedSource> sources,
                                   std::uint64_t shard_bytes);

// What one task reads, decodes and packs: positions [begin, end) of one source, all in one shard.
// The borders, and with them those of packs and of transactions, depend on the listing, `store` and
// the variants alone.
struct ChunkPlan {
  std::size_t shard = 0;  // among those planned
  std::size_t source = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t input_bytes = 0;  // as listed, of those that are read
  bool ends_shard = false;
};

inline constexpr std::uint64_t kChunkEntries = 256;
inline constexpr std::uint64_t kChunkVariantBytes = 4u << 20;  // of as many inputs, if all train

// Input bytes a chunk is cut at; pixels are several times larger than what they were decoded from.
constexpr std::uint64_t chunk_bytes(Store store) noexcept {
  return store == Store::kRaw ? 1u << 20 : 2u << 20;
}

std::vector<ChunkPlan> plan_chunks(std::span<const PlacedSource> sources,
                                   std::span<const ShardPlan> shards, Store store,
                                   const VariantSettings& variants = {});

}  // namespace winnow::pipeline
