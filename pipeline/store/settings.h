#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/augment/settings.h"
#include "pipeline/decode/settings.h"

namespace winnow::pipeline {

// What is known of each image beside what is stored of it.
struct FingerprintSettings {
  std::vector<std::string> hashes;  // "phash:1"
  bool thumbnails = false;          // caches of before there were any have none

  friend bool operator==(const FingerprintSettings&, const FingerprintSettings&) = default;
};

// The options that shape the content of a cache. Whoever decodes what it stores does so by these.
// As made: of a cache that does not say how it was made.
struct CacheSettings {
  std::string store;  // "original", "raw" or "none"
  FingerprintSettings fingerprints;
  std::uint64_t shard_bytes = 0;            // of input, that a shard is cut at
  DecodeSettings decode;                    // of all images
  ResizeSettings resize;                    // of what is stored
  StoredVariants variants;                  // likewise
  std::map<std::string, std::string> rest;  // what a newer winnow has beside: name -> JSON
  // Of each decision to leave samples out, in order, the settings of the selection: JSON objects.
  std::vector<std::string> dropped;

  friend bool operator==(const CacheSettings&, const CacheSettings&) = default;
};

// Settings of a cache from which samples were left out, too, as a selection with the settings
// `decided_by` says, or none. Throws FormatError naming `where` unless they are a JSON object that
// a manifest can hold.
CacheSettings with_dropped(CacheSettings settings, const std::string& decided_by,
                           const std::string& where);
// As they were when it was ingested.
CacheSettings without_dropped(CacheSettings settings);

// JSON without spaces, as in manifests. Equal settings, equal text.
std::string to_text(const CacheSettings& settings);
// Its entries, each value as text, to show them.
std::vector<std::pair<std::string, std::string>> entries(const CacheSettings& settings);

}  // namespace winnow::pipeline
