#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/store/settings.h"
#include "pipeline/store/statistics.h"
#include "pipeline/store/tally.h"

namespace winnow::pipeline {

inline constexpr int kManifestVersion = 1;
inline constexpr std::uint64_t kBlockBytes = 4u << 20;

struct ShardInfo {
  std::string file;       // relative to the cache, "shards/00000.mdb"
  SampleId first_id = 0;  // ids of the run [first_id, last_id], readable or not
  SampleId last_id = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> block_hashes;  // XXH3-64 of each 4 MiB, hex
};

struct SourceInfo {
  std::string name;  // last part of the path it was read from; never an absolute path
  std::string format;
  std::uint64_t inputs = 0;
  std::string listing_hash;              // XXH3-128 of the canonical listing
  std::vector<std::string> class_names;  // as the source has them; manifest.classes maps them
};

struct InputCounts {
  std::uint64_t total = 0;
  std::map<std::string, std::uint64_t> by_fate;  // class of the ledger -> count; adds up to total
};

// Of the readable images.
struct ImageSummary {
  std::array<std::uint64_t, kSplitCount> split_counts{};
  int channels = 0;   // 1 if all are gray, else 3
  int height_px = 0;  // of all, 0 where they differ
  int width_px = 0;
  PixelSums pixel_sums;        // of training images (Tally::pixel_sums)
  std::optional<Tally> tally;  // what a source that is added later goes on from; not in older ones
  std::optional<Statistics> statistics;  // not in caches of before there were any

  // Mean and standard deviation per channel on the scale [0, 1].
  std::array<double, 3> mean() const;
  std::array<double, 3> deviation() const;
};
ImageSummary summary_of(const Tally& tally, std::optional<Statistics> statistics = {});

// Of the files beside the shards.
struct TableInfo {
  std::vector<std::string> hashes;  // columns of codes: "phash:1", "dhash:1"
  std::string fingerprints_hash;    // XXH3-128 of fingerprints/table
  std::string ledger_hash;          // XXH3-128 of ledger.jsonl
};

struct Manifest {
  std::vector<SourceInfo> sources;
  std::vector<std::string> classes;  // training label -> name
  std::vector<ShardInfo> shards;     // empty with --store none
  TableInfo tables;
  InputCounts inputs;
  ImageSummary images;
  std::string store;  // "original", "raw" or "none"
  CacheSettings settings;
};

// JSON text; the digest is XXH3-128 of it without the digest line. Equal manifests, equal text.
// Class and source names may be any bytes (docs/formats/manifest.md says how they are written).
std::string to_json(const Manifest& manifest);
// UsageError for that of an index (dedup/index); FormatError naming `where` for a newer version, a
// digest that does not match, and anything that to_json cannot have written of a sound cache.
Manifest parse_manifest(const std::string& text, const std::string& where);
std::string digest(const Manifest& manifest);  // 32 hex digits

}  // namespace winnow::pipeline
