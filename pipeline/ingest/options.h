#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/stop.h"
#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"
#include "pipeline/augment/variants.h"
#include "pipeline/decode/settings.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

// The form in which a cache stores images: the user's bytes, decoded pixels, or only fingerprints.
enum class Store { kOriginal, kRaw, kNone };
std::string_view store_name(Store store) noexcept;

// Inputs to leave out of a new cache because they are duplicates of others.
struct LeftOut {
  dedup::Selection decisions;                // one row for each input left out, and no others
  std::map<SampleId, std::string> warnings;  // decoder warnings about inputs left out
};

// The result of an ingest: a new cache, or changes to an existing one.
struct IngestTarget {
  bool thumbnails = true;  // store thumbnails with the fingerprints (dedup/hash/thumbnail.h)
  bool memory = false;     // write shards to tmpfs, with a link in the cache
  bool into = false;       // append to the existing cache
  bool retry = false;      // retry the unreadable inputs of the existing cache
  // Inputs to skip and record as duplicates; must outlive the ingest. nullptr: none.
  const LeftOut* left_out = nullptr;
};

// Resources of an ingest; they do not affect the cache's content.
struct IngestWork {
  int threads = 0;                 // threads of TBB; 0: TBB's default
  int readers = 64;                // most reading threads; no more are started than needed
  std::uint64_t memory_bytes = 0;  // limit of bytes in flight; 0: 128 MiB, plus 128 MiB per thread
  StopRequested stop;              // is asked before each input
};

struct IngestOptions {
  Store store = Store::kOriginal;
  // Names of hashes. All must have the same scale (find_hash). With a scale below full size,
  // encoded images are not decoded fully: sharpness, quality and sums of pixels are then those of
  // the scaled image, and pixel hashes are those of the encoded bytes.
  std::vector<std::string> hashes{"phash", "phash16"};
  std::uint64_t shard_bytes = 256u << 20;  // bytes of inputs per shard
  DecodeSettings decode;     // images that these settings refuse get the outcome "too large"
  ResizeSettings resize;     // downscaling of stored images; fingerprints use all pixels
  VariantSettings variants;  // augmented variants to store; need Store::kRaw and no resize
  IngestTarget target;
  IngestWork work;
};

// Throws UsageError for options that ingest() refuses whatever the sources are.
void check_options(const IngestOptions& options);

// The options that affect a cache's content, for its manifest. `columns` is a table with the
// hashes.
CacheSettings settings_of(const IngestOptions& options, const dedup::Fingerprints& columns);
// The options with which a cache's content was made. Throws FormatError if the manifest lacks them.
IngestOptions options_of(const Manifest& manifest);
// Names of the hashes of a table, with their versions: "phash:1", "dhash:1".
std::vector<std::string> hash_names(const dedup::Fingerprints& columns);

// Limit that applies to image data in memory during an ingest.
std::uint64_t bytes_in_flight(const IngestWork& work);
std::string in_mebibytes(std::uint64_t bytes);  // "12 MiB", rounded up

}  // namespace winnow::pipeline
