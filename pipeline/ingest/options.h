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

enum class Store { kOriginal, kRaw, kNone };  // the user's bytes; decoded pixels; fingerprints only
std::string_view store_name(Store store) noexcept;

// Inputs to leave out of a new cache, because others represent them.
struct LeftOut {
  dedup::Selection decisions;                // a row for each input left out, and no others
  std::map<SampleId, std::string> warnings;  // decoder warnings about inputs left out
};

// The result that an ingest makes.
struct IngestTarget {
  bool thumbnails = true;  // store them beside the fingerprints (dedup/hash/thumbnail.h)
  bool memory = false;     // shards on tmpfs; the cache has a link to them
  bool into = false;       // append to the existing cache
  bool retry = false;      // retry the unreadable inputs of the existing cache
  // Inputs to skip and record as duplicates; must outlive the ingest.
  const LeftOut* left_out = nullptr;
};

// How the work is done; does not affect the content.
struct IngestWork {
  int threads = 0;                 // TBB workers; 0: TBB's default
  int readers = 64;                // maximum number of reading threads; as many as needed
  std::uint64_t memory_bytes = 0;  // limit of bytes in flight; 0: 128 MiB, plus 128 MiB a thread
  StopRequested stop;              // asked before each input
};

struct IngestOptions {
  Store store = Store::kOriginal;
  // All must have one scale (find_hash). With a scale, encoded images are not decoded fully:
  // sharpness, quality and sums of pixels are those of the scaled image, and pixel hashes those of
  // the encoded bytes.
  std::vector<std::string> hashes{"phash", "phash16"};
  std::uint64_t shard_bytes = 256u << 20;  // input bytes of a shard
  DecodeSettings decode;                   // images that it refuses get the class "too large"
  ResizeSettings resize;                   // for the stored image; fingerprints use all pixels
  VariantSettings variants;                // likewise; requires Store::kRaw and no resize
  IngestTarget target;
  IngestWork work;
};

// Throws UsageError for options that ingest() refuses for any sources.
void check_options(const IngestOptions& options);

// The options that affect a cache's content, for its manifest. `columns` has the hashes.
CacheSettings settings_of(const IngestOptions& options, const dedup::Fingerprints& columns);
// The content options with which a cache was made; FormatError if the manifest lacks them.
IngestOptions options_of(const Manifest& manifest);
// "phash:1", "dhash:1"
std::vector<std::string> hash_names(const dedup::Fingerprints& columns);

std::uint64_t bytes_in_flight(const IngestWork& work);  // the effective limit
std::string in_mebibytes(std::uint64_t bytes);          // "12 MiB", rounded up

}  // namespace winnow::pipeline
