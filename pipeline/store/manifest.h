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
  std::string file;       // path relative to the cache, "shards/00000.mdb"
  SampleId first_id = 0;  // the shard has ids [first_id, last_id], readable or not
  SampleId last_id = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> block_hashes;  // XXH3-64 of each 4 MiB block, in hex
};

struct SourceInfo {
  std::string name;  // last part of the path that was read; never an absolute path
  std::string format;
  std::uint64_t inputs = 0;
  std::string listing_hash;  // XXH3-128 of the canonical listing
  // Classes as in the source; manifest.classes has all classes of the cache.
  std::vector<std::string> class_names;
};

struct InputCounts {
  std::uint64_t total = 0;
  // Number of inputs by outcome in the ledger; sums to total.
  std::map<std::string, std::uint64_t> by_fate;
};

// Summary of a cache's readable images.
struct ImageSummary {
  std::array<std::uint64_t, kSplitCount> split_counts{};
  int channels = 0;   // channels of the images: 1 if all are gray, else 3
  int height_px = 0;  // size of all images in pixels; 0 if they differ
  int width_px = 0;
  PixelSums pixel_sums;  // sums over the training images (Tally::pixel_sums)
  // Exact counts and sums of the images, to which those of later sources are added; missing in
  // older caches.
  std::optional<Tally> tally;
  std::optional<Statistics> statistics;  // missing in older caches

  // Mean and standard deviation of each channel, scaled to [0, 1].
  std::array<double, 3> mean() const;
  std::array<double, 3> deviation() const;
};
ImageSummary summary_of(const Tally& tally, std::optional<Statistics> statistics = {});

// The files that a cache has besides its shards: fingerprints and ledger.
struct TableInfo {
  std::vector<std::string> hashes;  // hashes with their versions, "phash:1", "dhash:1"
  std::string fingerprints_hash;    // XXH3-128 of fingerprints/table
  std::string ledger_hash;          // XXH3-128 of ledger.jsonl
};

struct Manifest {
  std::vector<SourceInfo> sources;
  std::vector<std::string> classes;  // name of the class of each training label
  std::vector<ShardInfo> shards;     // empty with --store none
  TableInfo tables;
  InputCounts inputs;
  ImageSummary images;
  std::string store;  // form of stored images: "original", "raw" or "none"
  CacheSettings settings;
};

// The manifest as JSON text. Its digest is the XXH3-128 of this text without the line `digest`.
// Equal manifests give equal text. Names of classes and sources may be any bytes
// (docs/formats/manifest.md describes their encoding).
std::string to_json(const Manifest& manifest);
// Parses a manifest.
// Errors  UsageError for the manifest of an index (dedup/index). FormatError naming `where` for a
//         newer version, a wrong digest, and anything that to_json() cannot have written for an
//         undamaged cache.
Manifest parse_manifest(const std::string& text, const std::string& where);
std::string digest(const Manifest& manifest);  // digest of a manifest, 32 hex digits

}  // namespace winnow::pipeline
