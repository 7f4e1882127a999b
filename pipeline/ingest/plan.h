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

// Sizes of inputs that replace the sizes in the listing, by position.
using OtherBytes = std::map<std::uint64_t, std::uint64_t>;

// A source of an ingest, with its number and labels in the cache.
struct PlacedSource {
  const datasets::Source* source = nullptr;
  std::uint32_t ordinal = 0;
  SourceInfo info;
  // Label in the cache for each class of the source; empty: unchanged.
  std::vector<std::int32_t> training_labels;
  // Ids of inputs that are duplicates and are not read, ascending.
  std::span<const SampleId> left_out{};
  // A cache whose records are reused, except for the ids `again` (ascending); null: none.
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

// A source with its manifest entry. Making the entry requires reading the whole listing.
struct DescribedSource {
  const datasets::Source* source = nullptr;
  SourceInfo info;
};
DescribedSource describe(const IngestSource& source);
// Whether two sources have equal name, format and listing.
bool is_same(const SourceInfo& a, const SourceInfo& b) noexcept;

// The listing hash of SourceInfo, computed with other sizes of some inputs.
std::string listing_hash(const datasets::Source& source, const OtherBytes& other_bytes = {});

// The index in `classes` of each of `names`. Classes that are missing are appended to `classes`.
// Returns an empty list if every index is as in `names`.
std::vector<std::int32_t> map_classes(std::span<const std::string> names,
                                      std::vector<std::string>& classes);

// Gives sources the next numbers in `manifest`, and adds them, their inputs and their classes to
// it. A class with a known name keeps its training label; new classes get the next labels, so that
// existing labels never change.
// Errors  UsageError for more sources than ids allow
std::vector<PlacedSource> place_sources(std::vector<DescribedSource> sources, Manifest& manifest);
std::vector<PlacedSource> place_sources(std::span<const IngestSource> sources, Manifest& manifest);

// The inputs of one shard: positions [begin, end) of one source.
struct ShardPlan {
  std::size_t source = 0;  // index of the source among the placed sources
  std::size_t number = 0;  // number of the shard among those of its source
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The name of a shard's files: "00007" for the first source of a cache, "2-00007" for the third.
std::string shard_name(const PlacedSource& source, const ShardPlan& shard);

// Divides the sources into shards by the bytes of inputs, before any input is opened. Pure.
std::vector<ShardPlan> plan_shards(std::span<const PlacedSource> sources,
                                   std::uint64_t shard_bytes);

// The inputs of one task, which reads, decodes and packs them: positions [begin, end) of one
// source, within one shard. Where tasks begin and end depends on the listing, `store` and the
// variants only, and so do packs and transactions.
struct ChunkPlan {
  std::size_t shard = 0;  // index among the planned shards
  std::size_t source = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t input_bytes = 0;  // bytes by the listing, without inputs that are not read
  bool ends_shard = false;
};

inline constexpr std::uint64_t kChunkEntries = 256;
// Most bytes of augmented variants of a task's inputs, if all inputs were training images.
inline constexpr std::uint64_t kChunkVariantBytes = 4u << 20;

// Most bytes of a task's inputs. Decoded pixels are several times larger.
constexpr std::uint64_t chunk_bytes(Store store) noexcept {
  return store == Store::kRaw ? 1u << 20 : 2u << 20;
}

std::vector<ChunkPlan> plan_chunks(std::span<const PlacedSource> sources,
                                   std::span<const ShardPlan> shards, Store store,
                                   const VariantSettings& variants = {});

}  // namespace winnow::pipeline
