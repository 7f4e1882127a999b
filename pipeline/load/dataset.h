#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/loader.h"
#include "pipeline/store/partition.h"

namespace winnow::pipeline {

class Cache;
struct Parts;

// All that a trainer must know about a cache, without access to its files.
struct DatasetInfo {
  std::string digest;                // digest of the cache's manifest
  std::vector<std::string> classes;  // class names by label; empty: unlabelled
  int channels = 0;                  // channels of the images; 1: all images are gray
  int height_px = 0;                 // size of all images as stored; 0 if sizes differ
  int width_px = 0;
  // Recipe of the augmented variants that are stored of training images.
  Recipe stored_recipe = Recipe::kNone;
  std::array<double, 3> mean{};  // mean of each channel, on a scale of [0, 1]
  std::array<double, 3> deviation{};
  std::array<std::uint64_t, kSplitCount> split_counts{};
};
DatasetInfo describe(const Cache& cache);

// Where each machine of a job reads the shards of the cache.
struct Placement {
  // Folder with a copy of the shards on this machine; empty: the cache itself.
  std::filesystem::path shards_at;
  // Folder with the cache's other files, on a machine without the cache; empty: the cache itself.
  std::filesystem::path files_at = {};
  // nodes: the machine of each rank. held: for each machine, the manifest numbers of the shards of
  // which it has any records. Both are empty if every machine has all records. The records that a
  // machine has follow from its blocks in `parts` (pipeline/store/parts.h), or else from
  // `partitions`, one entry per machine.
  std::vector<int> nodes = {};
  std::vector<std::vector<std::uint32_t>> held = {};
  std::shared_ptr<const Parts> parts = nullptr;
  std::vector<Partitions> partitions = {};
  // Most bytes that a rank sends and receives together in one exchange, unless a single batch needs
  // more. An exchange takes twice this memory on a rank.
  std::size_t segment_bytes = std::size_t{128} << 20;
};

// Opens a cache for training, with those shards that the machine of `rank` has. Checks file sizes
// as Cache::open() does; keeps up to 4 GiB mapped. `root` need not exist if `placement` has all
// files elsewhere.
// Errors  UsageError if shards are on a network file system: a page that storage fails to deliver
//         kills a process that has it mapped. Copy the shards first (pipeline/copies/shard_copy.h).
std::shared_ptr<const Cache> open_cache(const std::filesystem::path& root,
                                        const Placement& placement = {}, int rank = 0);

// How a cache has changed since it was opened: "was removed", "was replaced by another". Empty if
// it is the same, or if storage does not answer. The open cache can still be read.
std::string change_since_opened(const Cache& cache);

// Whether a selection may have this name, which becomes a file name in the cache.
bool can_name_selection(std::string_view name) noexcept;

// XXH3-128, in hex, of all data of a cache that affect training: settings and, for each image, id,
// split, file hash and names of its classes. Caches that differ only in the order of classes have
// equal results here, but different digests.
std::string digest_by_names(const Cache& cache);

// XXH3-128, in hex, of a selection file; empty if there is no selection. Throws UsageError for an
// invalid name.
// made_for  digest of the cache that the selection was made for: this one with another order of
//           classes; empty: this one
std::string selection_digest(const Cache& cache, const std::string& selection,
                             const std::string& made_for = {});

// The samples of a split for evaluation, with weight 1, including those that a selection removes.
// With a selection, splits are as it says. May be empty.
struct EvaluationSamples {
  SampleSet all;
  // Ascending ids of leaked samples: they share a duplicate group with a training sample (removed
  // or not), or were removed because another split has their picture. Empty without a selection.
  std::vector<SampleId> leaked;
};
EvaluationSamples evaluation_samples(const Cache& cache, Split split, const std::string& selection);

// Splits `samples` into training samples and about a share `share` of held-out samples. They come
// from `selection`; empty: from no selection.
// Groups  A duplicate group is never divided. Which groups are held out depends on their first
//         samples only, so that the hold-out is the same for every seed of a run.
// Turns   Training samples of which an epoch uses one per group continue so; held-out samples are
//         all used.
// Errors  UsageError if no sample is left for one of both.
struct HeldOut {
  SampleSet train;
  SampleSet held;
};
HeldOut hold_out(const Cache& cache, const SampleSet& samples, const std::string& selection,
                 double share);

}  // namespace winnow::pipeline
