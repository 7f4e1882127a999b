#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/augment/settings.h"
#include "pipeline/decode/settings.h"

namespace winnow::pipeline {

// The data stored about each image besides the image itself.
struct FingerprintSettings {
  std::vector<std::string> hashes;  // "phash:1"
  bool thumbnails = false;          // false for caches from before thumbnails

  friend bool operator==(const FingerprintSettings&, const FingerprintSettings&) = default;
};

// The options that determine a cache's content. Images must be decoded with these settings.
// Default-constructed: for a cache that does not say how it was made.
struct CacheSettings {
  std::string store;  // "original", "raw" or "none"
  FingerprintSettings fingerprints;
  std::uint64_t shard_bytes = 0;            // input bytes of a shard
  DecodeSettings decode;                    // for all images
  ResizeSettings resize;                    // for the stored images
  StoredVariants variants;                  // likewise
  std::map<std::string, std::string> rest;  // fields of a newer version: name -> JSON
  // The settings of each selection by which samples were left out, in order: JSON objects.
  std::vector<std::string> dropped;

  friend bool operator==(const CacheSettings&, const CacheSettings&) = default;
};

// Settings of a cache from which further samples were left out, by a selection with the settings
// `decided_by` (may be empty). Throws FormatError naming `where` unless these are a JSON object
// that a manifest can hold.
CacheSettings with_dropped(CacheSettings settings, const std::string& decided_by,
                           const std::string& where);
// The settings as they were when it was ingested.
CacheSettings without_dropped(CacheSettings settings);

// JSON without spaces, as in manifests. Equal settings give equal text.
std::string to_text(const CacheSettings& settings);
// Its entries with their values as text, for display.
std::vector<std::pair<std::string, std::string>> entries(const CacheSettings& settings);

}  // namespace winnow::pipeline
