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

// Everything a trainer needs to know about a cache, without access to it.
struct DatasetInfo {
  std::string digest;                // digest of the manifest
  std::vector<std::string> classes;  // by label; empty: unlabelled
  int channels = 0;                  // 1: every image is gray
  int height_px = 0;                 // size of all images as stored; 0 if they differ
  int width_px = 0;
  Recipe stored_recipe = Recipe::kNone;  // recipe of the stored variants of training images
  std::array<double, 3> mean{};          // per channel, scale [0, 1]
  std::array<double, 3> deviation{};
  std::array<std::uint64_t, kSplitCount> split_counts{};
};
DatasetInfo describe(const Cache& cache);

// Where the machines of a job read their cache's shards.
struct Placement {
  std::filesystem::path shards_at;  // folder of a copy on this machine; empty: the cache itself
  // Root of the other files on a machine without the cache; empty: the cache itself.
  std::filesystem::path files_at = {};
  // nodes: the machine of each rank. held: for each machine, the manifest numbers of the shards of
  // which it has any record. Both are empty if every machine has everything.
  // Which records it has follows from its blocks in `parts` (pipeline/store/parts.h), or else from
  // `partitions`, one entry a machine.
  std::vector<int> nodes = {};
  std::vector<std::vector<std::uint32_t>> held = {};
  std::shared_ptr<const Parts> parts = nullptr;
  std::vector<Partitions> partitions = {};
  // Limit of what a rank sends and receives at once, together, unless a single batch needs more.
  // The exchange takes twice this memory on a rank.
  std::size_t segment_bytes = std::size_t{128} << 20;
};

// Opens a cache for training, with those shards that `rank` has on its machine. Checks sizes, as
// Cache::open(); keeps up to 4 GiB mapped.
// If the placement has its files elsewhere, `root` need not exist.
// Errors  UsageError if shards are on a network file system: a page that storage fails to deliver
//         kills a process that has it mapped. Copy them first (pipeline/copies/shard_copy.h).
std::shared_ptr<const Cache> open_cache(const std::filesystem::path& root,
                                        const Placement& placement = {}, int rank = 0);

// Describes changes of a cache since it was opened: "was removed", "was replaced by another"; empty
// if it is the same, or if storage does not answer. The open cache itself is unaffected.
std::string change_since_opened(const Cache& cache);

// Whether the name is allowed: it becomes a file name in the cache.
bool can_name_selection(std::string_view name) noexcept;

// XXH3-128, hex, of everything training sees of a cache, with class names in place of labels:
// settings and, for each image, id, split, file hash and labels. Equal for caches that only differ
// in the order of classes, whose digests differ.
std::string digest_by_names(const Cache& cache);

// XXH3-128 of the selection file, hex; empty if there is no selection. UsageError for an invalid
// name.
// made_for  Digest of the cache for which it is taken to be made (this one with another order of
//           classes); empty: this one.
std::string selection_digest(const Cache& cache, const std::string& selection,
                             const std::string& made_for = {});

// The evaluation samples of a split, removed or not, with weight 1. With a selection, by its
// splits. May be empty.
struct EvaluationSamples {
  SampleSet all;
  // Those, ascending, that share a duplicate group with a training sample (removed or not), or that
  // were removed because another split has their picture. Empty without a selection.
  std::vector<SampleId> leaked;
};
EvaluationSamples evaluation_samples(const Cache& cache, Split split, const std::string& selection);

// Divides `samples`, which `selection` left (empty: everything), into training and about `share`
// hold-out samples.
// Groups  Duplicate groups are never divided. The draw depends on the group's first sample only, so
//         the hold-out is the same for every seed of a run.
// Turns   Training samples that take turns continue to do so; held-out samples are all present.
// Errors  UsageError if either side is empty.
struct HeldOut {
  SampleSet train;
  SampleSet held;
};
HeldOut hold_out(const Cache& cache, const SampleSet& samples, const std::string& selection,
                 double share);

}  // namespace winnow::pipeline
