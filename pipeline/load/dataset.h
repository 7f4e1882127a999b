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

// What a trainer needs to know of a cache, without the means of reading it.
struct DatasetInfo {
  std::string digest;                // of the manifest
  std::vector<std::string> classes;  // label -> name; empty: unlabelled
  int channels = 0;                  // 1: every image is gray
  int height_px = 0;                 // of all images as stored; 0 where they differ
  int width_px = 0;
  Recipe stored_recipe = Recipe::kNone;  // what training images are stored in variants of
  std::array<double, 3> mean{};          // per channel, scale [0, 1]
  std::array<double, 3> deviation{};
  std::array<std::uint64_t, kSplitCount> split_counts{};
};
DatasetInfo describe(const Cache& cache);

// Where the machines of a job read the shards of its cache from.
struct Placement {
  std::filesystem::path shards_at;  // folder of a copy on this machine; empty: the cache's own
  // Root of the other files, on a machine that does not have the cache in its place; empty: that.
  std::filesystem::path files_at = {};
  // Of each rank the number of its machine, and of each machine the shards it has any record of,
  // numbers of the manifest's. Neither is given where every machine has all. Which records: those
  // of the blocks that `parts` gives it (pipeline/store/parts.h), or else of the partitions that
  // `partitions` has for each machine.
  std::vector<int> nodes = {};
  std::vector<std::vector<std::uint32_t>> held = {};
  std::shared_ptr<const Parts> parts = nullptr;
  std::vector<Partitions> partitions = {};
  // What a rank sends and gets at once, together, unless a batch alone needs more. Twice that is
  // the memory that the exchange takes on a rank.
  std::size_t segment_bytes = std::size_t{128} << 20;
};

// A cache opened for training: sizes checked, as Cache::open, and up to 4 GiB of what was read stay
// mapped; with those of its shards that `rank` has on its machine. UsageError where they are on a
// network file system: a page that storage fails to bring ends a process that has it mapped, so
// they are copied first (pipeline/store/shard_copy.h). Where the placement has its files elsewhere,
// nothing need be at `root`.
std::shared_ptr<const Cache> open_cache(const std::filesystem::path& root,
                                        const Placement& placement = {}, int rank = 0);

// What has become of a cache since it was opened: "was removed", "was replaced by another"; empty
// where it is the same, or where its storage does not answer just now. What is open of it stays as
// it was.
std::string what_became_of(const Cache& cache);

// Whether it can: it becomes the name of a file of the cache.
bool can_name_selection(std::string_view name) noexcept;

// XXH3-128, hex, of what training sees of a cache, with labels by the names of their classes:
// settings, and of each image id, split, hash of its file and labels. Caches that differ in the
// order of their classes alone have the same, and other digests.
std::string digest_by_names(const Cache& cache);

// XXH3-128 of the selection file, hex; empty for no selection. UsageError for what cannot name one.
// `made_for`: digest of the cache that it is taken to be made for, of this cache in another order
// of its classes; empty: of this one.
std::string selection_digest(const Cache& cache, const std::string& selection,
                             const std::string& made_for = {});

// What a split is evaluated on: its samples, removed or not, by the splits of the selection if
// there is one; weights are 1. Empty where there are none.
struct EvaluationSamples {
  SampleSet all;
  // Of these, ascending, those that lie in one duplicate group with a training sample, removed or
  // not, or that were removed because another split has their picture. Empty without a selection.
  std::vector<SampleId> leaked;
};
EvaluationSamples evaluation_samples(const Cache& cache, Split split, const std::string& selection);

// Cuts a hold-out of about `share` of `samples`, which `selection` left (empty: everything), never
// through a duplicate group: a whole group goes to one side, by a draw that depends on its first
// sample alone. So the same samples are held out whatever the seed of a run. Where samples take
// turns, those to train on go on doing so and those held are all there. UsageError when either side
// is empty.
struct HeldOut {
  SampleSet train;
  SampleSet held;
};
HeldOut hold_out(const Cache& cache, const SampleSet& samples, const std::string& selection,
                 double share);

}  // namespace winnow::pipeline
