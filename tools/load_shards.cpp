#include "tools/load_shards.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "common/comm/agreement.h"
#include "pipeline/store/cache.h"
#include "tools/progress_bar.h"

namespace winnow::tools {

namespace fs = std::filesystem;

pipeline::ShardCopy load_shards(const fs::path& cache, pipeline::CopyOptions options,
                                const Session& session) {
  options.progress = make_progress_bar("load", "bytes", session.comm.rank() == 0);
  options.stop = session.stop;
  options.note = [&](const std::string& sentence) { say(session, sentence); };
  return pipeline::ShardCopy::get(cache, options);
}

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
               "so where they are on a network file system");
  app.add_option("--memory-dir", flags.folder,
                 "Folder of the copy, on a tmpfs or on a disk of the machine; implies --memory "
                 "(default: /dev/shm)");
  app.add_option("--segment-size", flags.segment_mib,
                 "MiB a rank exchanges with other machines at once, where they hold parts")
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
  std::vector<int> nodes = comm.nodes();
  if (flags.ranks_per_machine == 0) return nodes;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    nodes[rank] = static_cast<int>(rank) / flags.ranks_per_machine;
  }
  return nodes;
}

}  // namespace

pipeline::Placement divide_shards(const fs::path& cache, const MemoryFlags& flags,
                                  const Session& session) {
  pipeline::Placement placement;
  std::vector<int> nodes = machines_of(flags, session.comm);
  const int machines = *std::ranges::max_element(nodes) + 1;
  if (flags.replicas >= machines) return placement;
  pipeline::OpenOptions no_shards;
  no_shards.held.emplace();
  std::vector<std::uint64_t> bytes;
  for (const auto& shard : pipeline::Cache::open(cache, no_shards).manifest().shards) {
    bytes.push_back(shard.bytes);
  }
  if (flags.partitions > 0) {
    std::vector<std::uint32_t> all(bytes.size());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    placement.held.assign(static_cast<std::size_t>(machines), all);
    placement.partitions = pipeline::hold_partitions(flags.partitions, machines, flags.replicas);
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

pipeline::CopyOptions copy_options(const pipeline::Placement& placement, int rank,
                                   const fs::path& memory) {
  pipeline::CopyOptions options{.memory = memory};
  if (placement.held.empty()) return options;
  const auto node = static_cast<std::size_t>(placement.nodes[static_cast<std::size_t>(rank)]);
  options.shards = placement.held[node];
  if (!placement.partitions.empty()) options.partitions = placement.partitions[node];
  return options;
}

PlacedShards place_shards(const fs::path& cache, const MemoryFlags& flags, Session& session) {
  PlacedShards placed;
  comm::on_all(session.comm, [&] {
    const fs::path shards = pipeline::CachePaths{cache}.shards();
    std::error_code ignored;
    if (!fs::is_directory(shards, ignored)) return;  // whoever opens the cache says what is wrong
    const pipeline::Storage storage = pipeline::storage_at(shards);
    const bool asked = flags.memory || !flags.folder.empty();
    if (storage != pipeline::Storage::kNetwork && !asked) return;
    if (storage == pipeline::Storage::kMemory && flags.folder.empty()) {
      say(session, "the shards of " + cache.string() + " are in memory already");
      return;
    }
    const fs::path memory = flags.folder.empty() ? pipeline::kMemoryFolder : flags.folder;
    if (!asked) {
      say(session, shards.string() +
                       " is on a network file system, which shards are not mapped "
                       "from: they are read from a copy in " +
                       memory.string());
    }
    pipeline::Placement& placement = placed.placement;
    placement = divide_shards(cache, flags, session);
    placement.segment_bytes = flags.segment_mib << 20;
    placed.copy = load_shards(cache, copy_options(placement, session.comm.rank(), memory), session);
    placement.shards_at = placed.copy->folder();
  });
  if (placed.copy) {
    say(session, fmt::format("{}, in {}", in_words(*placed.copy), placed.copy->folder().string()));
  }
  return placed;
}

}  // namespace winnow::tools
