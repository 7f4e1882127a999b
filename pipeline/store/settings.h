#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/augment/settings.h"
#include "pipeline/decode/settings.h"

namespace winnow::pipeline {

// Which data a cache stores about each image besides the image itself.
struct FingerprintSettings {
  std::vector<std::string> hashes;  // names of the hashes with their versions, "phash:1"
  bool thumbnails = false;          // false for caches from before thumbnails

  friend bool operator==(const FingerprintSettings&, const FingerprintSettings&) = default;
};

// The options that determine a cache's content. Its images must be decoded with these settings.
// Default-constructed for a cache that does not say how it was made.
struct CacheSettings {
  std::string store;  // form of stored images: "original", "raw" or "none"
  FingerprintSettings fingerprints;
  std::uint64_t shard_bytes = 0;            // bytes of inputs per shard
  DecodeSettings decode;                    // decoding of all images
  ResizeSettings resize;                    // downscaling of the stored images
  StoredVariants variants;                  // augmented variants of training images
  std::map<std::string, std::string> rest;  // fields of a newer version: name and JSON
  // The settings of each selection by which samples were left out of the cache, in order: JSON
  // objects.
  std::vector<std::string> dropped;

  friend bool operator==(const CacheSettings&, const CacheSettings&) = default;
};

// The settings of a cache from which more samples were left out, by a selection with the settings
// `decided_by` (may be empty). Throws FormatError naming `where` unless `decided_by` is a JSON
// object that a manifest can hold.
CacheSettings with_dropped(CacheSettings settings, const std::string& decided_by,
                           const std::string& where);
// The settings as they were when the cache was ingested, before samples were left out.
CacheSettings without_dropped(CacheSettings settings);

// The settings as JSON without spaces, as in manifests. Equal settings give equal text.
std::string to_text(const CacheSettings& settings);
// The settings as names and texts, for display.
std::vector<std::pair<std::string, std::string>> entries(const CacheSettings& settings);

}  // namespace winnow::pipeline
