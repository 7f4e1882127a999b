#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/stop.h"
#include "dedup/fingerprints.h"
#include "dedup/selection.h"
#include "pipeline/augment/variants.h"
#include "pipeline/decode/settings.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

enum class Store { kOriginal, kRaw, kNone };  // the user's bytes, decoded pixels, fingerprints only
std::string_view store_name(Store store) noexcept;

// Inputs that a new cache is to be without: others stand for them, as was decided of fingerprints.
struct LeftOut {
  dedup::Selection decisions;                // the rows of these inputs alone
  std::map<SampleId, std::string> warnings;  // what the decoder said of some of them
};

// What an ingest makes, or goes on with.
struct IngestTarget {
  bool thumbnails = true;             // beside the fingerprints (dedup/hash/thumbnail.h)
  bool memory = false;                // shards on tmpfs, the cache holds a link to them
  bool into = false;                  // add to the cache that is there
  bool retry = false;                 // ask again for what the cache that is there could not read
  const LeftOut* left_out = nullptr;  // not read and booked as duplicates; outlives the ingest
};

// How it is done; the content does not depend on it.
struct IngestWork {
  int threads = 0;                 // TBB workers; 0: what TBB has
  int readers = 64;                // threads that read, at most; as many as are needed
  std::uint64_t memory_bytes = 0;  // bound on bytes in flight; 0: 128 MiB, and as much a thread
  StopRequested stop;              // asked before each input
};

struct IngestOptions {
  Store store = Store::kOriginal;
  // All of one scale (find_hash). With one, what is encoded is not decoded whole: sharpness,
  // quality and sums of pixels are of the scale too, and pixel hashes those of the bytes.
  std::vector<std::string> hashes{"phash", "phash16"};
  std::uint64_t shard_bytes = 256u << 20;  // input bytes a shard is cut at
  DecodeSettings decode;                   // images it refuses are booked as too large
  ResizeSettings resize;                   // of what is stored; fingerprints are of all pixels
  VariantSettings variants;                // likewise; with Store::kRaw and without a resize
  IngestTarget target;
  IngestWork work;
};

// Throws UsageError for options that ingest() refuses of any sources.
void check_options(const IngestOptions& options);

// Those that shape the content of a cache, as JSON for its manifest; `columns` has the hashes.
CacheSettings settings_of(const IngestOptions& options, const dedup::Fingerprints& columns);
// The options that shape the content of a cache, as it was made with them; FormatError where they
// are not there.
IngestOptions options_of(const Manifest& manifest);
// "phash:1", "dhash:1"
std::vector<std::string> hash_names(const dedup::Fingerprints& columns);

std::uint64_t bytes_in_flight(const IngestWork& work);  // the bound, as a number
std::string in_mebibytes(std::uint64_t bytes);          // "12 MiB", rounded up

}  // namespace winnow::pipeline
