#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/sample.h"
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

struct Manifest {
  std::vector<SourceInfo> sources;
  std::vector<std::string> classes;             // training label -> name
  std::vector<ShardInfo> shards;                // empty with --store none
  std::vector<std::string> hashes;              // "phash:1", "dhash:1"
  std::map<std::string, std::uint64_t> ledger;  // class -> count; adds up to inputs
  std::uint64_t inputs = 0;
  std::array<std::uint64_t, kSplitCount> split_counts{};  // readable images
  int channels = 0;   // 1 if all readable images are gray, else 3
  int height_px = 0;  // of all images, 0 where they differ
  int width_px = 0;
  PixelSums pixel_sums;        // of the readable training images (Tally::pixel_sums)
  std::optional<Tally> tally;  // what a source that is added later goes on from; not in older ones
  // Of the readable images. Caches of before there were any have none.
  std::optional<Statistics> statistics;
  std::string store;              // "original", "raw" or "none"
  std::string fingerprints_hash;  // XXH3-128 of fingerprints/table
  std::string ledger_hash;        // XXH3-128 of ledger.jsonl
  std::string settings;           // JSON of the options that shape the content, compact, or ""

  // Mean and standard deviation per channel on the scale [0, 1].
  std::array<double, 3> mean() const;
  std::array<double, 3> deviation() const;
};

// Sets tally and what follows from it: split_counts, channels, height_px, width_px, pixel_sums.
void set_tally(Manifest& manifest, const Tally& tally);

// JSON text; the digest is XXH3-128 of it without the digest line. Equal manifests, equal text.
// Class and source names may be any bytes (docs/formats/manifest.md says how they are written).
std::string to_json(const Manifest& manifest);
// UsageError for that of an index (dedup/index); FormatError naming `where` for a newer version, a
// digest that does not match, and anything that to_json cannot have written of a sound cache.
Manifest parse_manifest(const std::string& text, const std::string& where);
std::string digest(const Manifest& manifest);  // 32 hex digits

}  // namespace winnow::pipeline
