#include "pipeline/load/place_shards.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "common/comm/agreement.h"
#include "common/counted.h"
#include "common/error.h"
#include "pipeline/copies/peer_copy.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/parts.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

void note(const PlaceOptions& options, const std::string& sentence) {
  if (options.copy.note) options.copy.note(sentence);
}

std::string in_mebibytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  return bytes < 10 * kMebibyte ? std::to_string(bytes >> 10) + " KiB"
                                : std::to_string(bytes / kMebibyte) + " MiB";
}

// "about 14 MiB each", by the manifest.
std::string sizes_of(const Parts& parts, std::span<const ShardInfo> shards) {
  const std::vector<std::uint64_t> bytes = bytes_of_machines(parts, shards);
  const auto [least, most] = std::ranges::minmax(bytes);
  if (in_mebibytes(least) == in_mebibytes(most)) return "about " + in_mebibytes(most) + " each";
  return "about " + in_mebibytes(least) + " to " + in_mebibytes(most) + " each";
}

// Applies divide_shards() to a job, and reports it.
Placement divide(const Manifest& manifest, const PlaceOptions& options, comm::Communicator& comm) {
  const std::vector<int>& node_of = comm.placement().node_of;
  Placement placement = divide_shards(manifest, options.machines, node_of);
  if (placement.held.empty()) return placement;
  const bool by_partition = !placement.partitions.empty();
  if (by_partition && !std::ranges::is_sorted(placement.nodes)) {
    note(options,
         "neighbouring ranks are on different machines, so most samples cross the network; with "
         "mpirun --map-by slot only those do that the shuffle exchanges");
  }
  const int replicas = options.machines.replicas;
  std::string what = count_of(placement.held.size(), "machine holds", "machines hold") + " the " +
                     (by_partition ? "partitions, " : "shards, ") +
                     (replicas == 1 ? "each its part" : std::to_string(replicas) + " copies");
  if (placement.parts) what += ": " + sizes_of(*placement.parts, manifest.shards);
  note(options, what);
  return placement;
}

Manifest manifest_of(const fs::path& cache) {
  return Cache::open(cache, OpenOptions::without_shards()).manifest();
}

// Options for copying what a rank's machine must hold.
CopyOptions copy_of(CopyOptions options, const Placement& placement, int rank) {
  if (placement.held.empty()) return options;
  const auto node = static_cast<std::size_t>(placement.nodes[static_cast<std::size_t>(rank)]);
  options.shards = placement.held[node];
  if (!placement.partitions.empty()) options.partitions = placement.partitions[node];
  if (placement.parts) options.runs = runs_of(*placement.parts, static_cast<int>(node));
  return options;
}

// Whether an existing cache should be read from a copy.
bool wants_copy(const fs::path& cache, const PlaceOptions& options) {
  const fs::path shards = CachePaths{cache}.shards();
  std::error_code ignored;
  if (!fs::is_directory(shards, ignored)) return false;  // opening it reports the problem
  const Storage storage = storage_at(shards);
  if (options.when == CopyWhen::kNeeded) {
    if (storage != Storage::kNetwork) return false;
    note(options, shards.string() +
                      " is on a network file system, from which shards are not mapped: they are "
                      "read from a copy in " +
                      options.copy.memory.string());
    return true;
  }
  if (storage != Storage::kMemory || options.when == CopyWhen::kAlways) return true;
  note(options, "the shards of " + cache.string() + " are in memory already");
  return false;
}

// Sets `copied`. Collective.
void agree_on_copied(PlacedShards& placed, comm::Communicator& comm) {
  std::array<std::uint64_t, 1> copies{placed.copy && !placed.copy->joined() ? 1U : 0U};
  comm.all_reduce(copies);
  placed.copied = copies[0] > 0;
}

// For the case that each rank has the cache and wants a copy.
PlacedShards copy_shards(const fs::path& cache, const PlaceOptions& options,
                         comm::Communicator& comm) {
  PlacedShards placed;
  comm::on_all(comm, [&] {
    placed.placement = divide(manifest_of(cache), options, comm);
    placed.copy = ShardCopy::get(cache, copy_of(options.copy, placed.placement, comm.rank()));
    placed.placement.shards_at = placed.copy->folder();
  });
  agree_on_copied(placed, comm);
  return placed;
}

// For the case that ranks differ: some have the cache, others only copies; or some read it in
// place.
PlacedShards share_shards(const fs::path& cache, const PlaceOptions& options, bool wants,
                          const std::vector<bool>& has, comm::Communicator& comm) {
  PlacedShards placed;
  const SharedCache shared = share_cache(cache, options.copy.memory, has, comm);
  if (!shared.givers.empty() && shared.givers.size() < has.size()) {
    note(options, std::to_string(has.size() - shared.givers.size()) + " of " +
                      std::to_string(has.size()) + " ranks " +
                      (has.size() - shared.givers.size() == 1 ? "does" : "do") + " not have " +
                      cache.string() + ": it is copied from the others");
  }
  ShareOptions share{.wants_copy = wants, .segment_bytes = options.segment_bytes};
  comm::on_all(comm, [&] {
    placed.placement = divide(shared.manifest, options, comm);
    share.copy = copy_of(options.copy, placed.placement, comm.rank());
    share.parts = placed.placement.parts;
    if (share.parts) share.machine = placed.placement.nodes[static_cast<std::size_t>(comm.rank())];
  });
  SharedCopy copy = share_copies(cache, shared, share, comm);
  placed.given_bytes = copy.given_bytes;
  placed.giving_seconds = copy.seconds;
  placed.placement.files_at = std::move(copy.files_at);
  if (copy.copy) placed.placement.shards_at = copy.copy->folder();
  placed.copy = std::move(copy.copy);
  agree_on_copied(placed, comm);
  return placed;
}

}  // namespace

Placement divide_shards(const Manifest& manifest, const MachineOptions& options,
                        std::vector<int> node_of) {
  for (std::size_t rank = 0; rank < node_of.size() && options.ranks_per_machine > 0; ++rank) {
    node_of[rank] = static_cast<int>(rank) / options.ranks_per_machine;
  }
  Placement placement;
  const int machines = *std::ranges::max_element(node_of) + 1;
  if (options.replicas >= machines) return placement;
  if (options.partitions > 0) {
    std::vector<std::uint32_t> all(manifest.shards.size());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    placement.partitions = hold_partitions(options.partitions, machines, options.replicas);
    for (const Partitions& part : placement.partitions) {
      placement.held.push_back(part.begin < part.end ? all : std::vector<std::uint32_t>());
    }
  } else {
    Parts parts = hold_blocks(manifest.shards, machines, options.replicas);
    for (int node = 0; node < machines; ++node) placement.held.push_back(shards_of(parts, node));
    placement.parts = std::make_shared<const Parts>(std::move(parts));
  }
  placement.nodes = std::move(node_of);
  return placement;
}

PlacedShards load_shards(const fs::path& cache, const PlaceOptions& options,
                         comm::Communicator& comm) {
  PlaceOptions pinned = options;
  pinned.copy.pinned = true;
  const std::vector<bool> has = find_cache(cache, comm);
  if (std::ranges::all_of(has, std::identity())) return copy_shards(cache, pinned, comm);
  return share_shards(cache, pinned, /*wants=*/true, has, comm);
}

PlacedShards place_shards(const fs::path& cache, const PlaceOptions& options,
                          comm::Communicator& comm) {
  PlacedShards placed;
  const std::vector<bool> has = find_cache(cache, comm);
  const auto first = std::ranges::find(has, true);
  // No rank has it, or may look for it elsewhere: opening it reports the problem.
  const bool may_copy = options.when != CopyWhen::kNeeded;
  if (first == has.end() && !may_copy) return placed;
  std::array<std::uint64_t, 1> wanting{};
  comm::on_all(comm, [&] {
    if (has[static_cast<std::size_t>(comm.rank())]) {
      wanting[0] = wants_copy(cache, options) ? 1 : 0;
    } else if (may_copy) {
      wanting[0] = 1;
    } else {
      throw UsageError("there is no cache at " + cache.string() + " on this machine, but rank " +
                       std::to_string(first - has.begin()) +
                       " has one; with --memory it is copied from the machines that have it");
    }
  });
  const bool wants = wanting[0] > 0;
  comm.all_reduce(wanting);
  const bool all_want = wanting[0] == has.size();
  if (all_want && std::ranges::all_of(has, std::identity())) {
    placed = copy_shards(cache, options, comm);
  } else if (wanting[0] > 0) {
    placed = share_shards(cache, options, wants, has, comm);
  }
  placed.placement.segment_bytes = options.segment_bytes;
  return placed;
}

}  // namespace winnow::pipeline
