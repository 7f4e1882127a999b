#include "tools/load_shards.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/neighbours.h"
#include "tools/progress_bar.h"

namespace winnow::tools {

namespace fs = std::filesystem;

std::string in_words(const pipeline::ShardCopy& copy) {
  const std::string size = in_bytes(copy.bytes());
  if (copy.joined()) return "shards: " + size + ", which were there already";
  return fmt::format("shards: {}, loaded in {} ({}/s)", size, in_seconds(copy.seconds()),
                     in_bytes(static_cast<std::uint64_t>(static_cast<double>(copy.bytes()) /
                                                         std::max(copy.seconds(), 1e-9))));
}

void add_memory_flags(CLI::App& app, MemoryFlags& flags) {
  app.add_flag("--memory", flags.memory,
               "Read the shards from a copy in memory, loaded first where it is not there; always "
               "so where they are on a network file system. Machines that do not have the cache "
               "at its path get it from those that do");
  app.add_option("--memory-dir", flags.folder,
                 "Folder of the copy, on a tmpfs or on a disk of the machine; implies --memory "
                 "(default: /dev/shm)");
  app.add_option("--segment-size", flags.segment_mib,
                 "MiB a rank exchanges with other machines at once, where they hold parts or one "
                 "gets the cache from another")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_machine_flags(app, flags);
}

void add_machine_flags(CLI::App& app, MemoryFlags& flags) {
  app.add_option("--replicas", flags.replicas,
                 "Copies in the memory of all machines together: each machine holds its part of "
                 "one, and gets the others' records while it works; as many as there are machines: "
                 "each holds everything")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--ranks-per-machine", flags.ranks_per_machine,
                 "Take so many ranks for those of a machine, to try out on one what several would "
                 "do; 0: as they are")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

namespace {

std::vector<int> machines_of(const MemoryFlags& flags, const comm::Communicator& comm) {
  std::vector<int> nodes = comm.placement().node_of;
  if (flags.ranks_per_machine == 0) return nodes;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    nodes[rank] = static_cast<int>(rank) / flags.ranks_per_machine;
  }
  return nodes;
}

fs::path memory_of(const MemoryFlags& flags) {
  return flags.folder.empty() ? pipeline::kMemoryFolder : flags.folder;
}

bool asks_for_copy(const MemoryFlags& flags) { return flags.memory || !flags.folder.empty(); }

// Which machine of a job is to hold which shards; nothing where each is to hold all.
pipeline::Placement divide_shards(const pipeline::Manifest& manifest, const MemoryFlags& flags,
                                  const Session& session) {
  pipeline::Placement placement;
  std::vector<int> nodes = machines_of(flags, session.comm);
  const int machines = *std::ranges::max_element(nodes) + 1;
  if (flags.replicas >= machines) return placement;
  std::vector<std::uint64_t> bytes;
  for (const auto& shard : manifest.shards) bytes.push_back(shard.bytes);
  if (flags.partitions > 0) {
    std::vector<std::uint32_t> all(bytes.size());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    placement.partitions = pipeline::hold_partitions(flags.partitions, machines, flags.replicas);
    for (const pipeline::Partitions& part : placement.partitions) {
      placement.held.push_back(part.begin < part.end ? all : std::vector<std::uint32_t>());
    }
    if (!std::ranges::is_sorted(nodes)) {
      say(session,
          "ranks that follow one another are on different machines, so that most samples travel; "
          "with --map-by slot only those do that the shuffle exchanges");
    }
  } else {
    placement.held = pipeline::hold_shards(bytes, machines, flags.replicas);
  }
  placement.nodes = std::move(nodes);
  say(session, fmt::format("{} machines hold the {}, {}", machines,
                           flags.partitions > 0 ? "partitions" : "shards",
                           flags.replicas == 1 ? std::string("each its part")
                                               : fmt::format("{} copies", flags.replicas)));
  return placement;
}

pipeline::Manifest manifest_of(const fs::path& cache) {
  pipeline::OpenOptions no_shards;
  no_shards.held.emplace();
  return pipeline::Cache::open(cache, no_shards).manifest();
}

// To copy what the machine of this rank is to hold.
pipeline::CopyOptions copy_options(const fs::path& memory, bool pinned,
                                   const pipeline::Placement& placement, const Session& session) {
  pipeline::CopyOptions options{
      .memory = memory,
      .pinned = pinned,
      .stop = session.stop,
      .progress = make_progress_bar("load", "bytes", session.comm.rank() == 0),
      .note = [&](const std::string& sentence) { say(session, sentence); }};
  if (placement.held.empty()) return options;
  const int node = placement.nodes[static_cast<std::size_t>(session.comm.rank())];
  options.shards = placement.held[static_cast<std::size_t>(node)];
  if (!placement.partitions.empty()) {
    options.partitions = placement.partitions[static_cast<std::size_t>(node)];
  }
  return options;
}

// Whether this rank's machine is to read a cache that it has from a copy.
bool wants_copy(const fs::path& cache, const MemoryFlags& flags, const Session& session) {
  const fs::path shards = pipeline::CachePaths{cache}.shards();
  std::error_code ignored;
  if (!fs::is_directory(shards, ignored)) return false;  // whoever opens it says what is wrong
  const pipeline::Storage storage = pipeline::storage_at(shards);
  if (!asks_for_copy(flags)) {
    if (storage != pipeline::Storage::kNetwork) return false;
    say(session, shards.string() +
                     " is on a network file system, which shards are not mapped from: they are "
                     "read from a copy in " +
                     memory_of(flags).string());
    return true;
  }
  if (storage != pipeline::Storage::kMemory || !flags.folder.empty()) return true;
  say(session, "the shards of " + cache.string() + " are in memory already");
  return false;
}

// Where ranks differ: some have the cache, or none but copies of it, or some read it in its place.
PlacedShards share_shards(const fs::path& cache, const MemoryFlags& flags, bool pinned, bool wants,
                          const std::vector<bool>& has, Session& session) {
  PlacedShards placed;
  const fs::path memory = memory_of(flags);
  const pipeline::SharedCache shared = pipeline::share_cache(cache, memory, has, session.comm);
  if (!shared.givers.empty() && shared.givers.size() < has.size()) {
    say(session, fmt::format("{} of {} ranks do not have {}: they get it from the others",
                             has.size() - shared.givers.size(), has.size(), cache.string()));
  }
  pipeline::ShareOptions options{.wants_copy = wants, .segment_bytes = flags.segment_mib << 20};
  pipeline::Placement& placement = placed.placement;
  comm::on_all(session.comm, [&] {
    placement = divide_shards(shared.manifest, flags, session);
    options.copy = copy_options(memory, pinned, placement, session);
  });
  pipeline::SharedCopy copy = pipeline::share_copies(cache, shared, options, session.comm);
  if (copy.given_bytes > 0) {
    say(session, fmt::format("{} went from machine to machine, in {} ({}/s)",
                             in_bytes(copy.given_bytes), in_seconds(copy.seconds),
                             in_bytes(static_cast<std::uint64_t>(
                                 static_cast<double>(copy.given_bytes) / copy.seconds))));
  }
  placement.files_at = std::move(copy.files_at);
  if (copy.copy) placement.shards_at = copy.copy->folder();
  placed.copy = std::move(copy.copy);
  return placed;
}

}  // namespace

PlacedShards load_shards(const fs::path& cache, const MemoryFlags& flags, Session& session) {
  const std::vector<bool> has = pipeline::find_cache(cache, session.comm);
  if (!std::ranges::all_of(has, std::identity())) {
    return share_shards(cache, flags, /*pinned=*/true, /*wants=*/true, has, session);
  }
  PlacedShards placed;
  comm::on_all(session.comm, [&] {
    placed.placement = divide_shards(manifest_of(cache), flags, session);
    placed.copy = pipeline::ShardCopy::get(
        cache, copy_options(memory_of(flags), /*pinned=*/true, placed.placement, session));
  });
  return placed;
}

PlacedShards place_shards(const fs::path& cache, const MemoryFlags& flags, Session& session) {
  PlacedShards placed;
  const std::vector<bool> has = pipeline::find_cache(cache, session.comm);
  const auto first = std::ranges::find(has, true);
  // Nobody has it nor may look for it elsewhere: whoever opens it says so.
  if (first == has.end() && !asks_for_copy(flags)) return placed;
  std::array<std::uint64_t, 1> wanting{};
  comm::on_all(session.comm, [&] {
    if (has[static_cast<std::size_t>(session.comm.rank())]) {
      wanting[0] = wants_copy(cache, flags, session) ? 1 : 0;
    } else if (asks_for_copy(flags)) {
      wanting[0] = 1;
    } else {
      throw UsageError(
          fmt::format("there is no cache at {} here, as there is on rank {}; with "
                      "--memory it is got from the machines that have it",
                      cache.string(), first - has.begin()));
    }
  });
  const bool wants = wanting[0] > 0;
  session.comm.all_reduce(wanting);
  const bool all_want = wanting[0] == has.size();
  if (all_want && std::ranges::all_of(has, std::identity())) {
    comm::on_all(session.comm, [&] {
      placed.placement = divide_shards(manifest_of(cache), flags, session);
      placed.copy = pipeline::ShardCopy::get(
          cache, copy_options(memory_of(flags), /*pinned=*/false, placed.placement, session));
      placed.placement.shards_at = placed.copy->folder();
    });
  } else if (wanting[0] > 0) {
    placed = share_shards(cache, flags, /*pinned=*/false, wants, has, session);
  }
  placed.placement.segment_bytes = flags.segment_mib << 20;
  if (placed.copy) {
    say(session, fmt::format("{}, in {}", in_words(*placed.copy), placed.copy->folder().string()));
  }
  return placed;
}

}  // namespace winnow::tools
