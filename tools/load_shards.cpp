#include "tools/load_shards.h"

#include <fmt/core.h>

#include <algorithm>

#include "tools/flags/flags.h"
#include "tools/numbers.h"
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

void add_memory_flags(Verb verb, MemoryFlags& flags) {
  verb.add_flag("--memory", flags.memory,
                "Read the shards from a copy in memory, loaded first where it is not there; always "
                "so where they are on a network file system. Machines that do not have the cache "
                "at its path get it from those that do");
  verb.add_option("--memory-dir", flags.folder,
                  "Folder of the copy, on a tmpfs or on a disk of the machine; implies --memory "
                  "(default: /dev/shm)");
  verb.add_option("--segment-size", flags.segment_mib,
                  "MiB a rank exchanges with other machines at once, where they hold parts or one "
                  "gets the cache from another")
      .check(whole_in(1, kMostMib))
      .show_default();
  add_machine_flags(verb, flags);
}

void add_machine_flags(Verb verb, MemoryFlags& flags) {
  verb.add_option(
          "--replicas", flags.replicas,
          "Copies in the memory of all machines together: each machine holds its part of "
          "one, and gets the others' records while it works; as many as there are machines: "
          "each holds everything")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("--ranks-per-machine", flags.ranks_per_machine,
                  "Take so many ranks for those of a machine, to try out on one what several would "
                  "do; 0: as they are")
      .check(whole_in(0, kMostCount))
      .show_default();
}

namespace {

pipeline::CopyWhen when(const MemoryFlags& flags) {
  if (!flags.folder.empty()) return pipeline::CopyWhen::kAlways;
  return flags.memory ? pipeline::CopyWhen::kNotInMemory : pipeline::CopyWhen::kNeeded;
}

// What goes on is said as it comes.
pipeline::PlaceOptions options_of(const MemoryFlags& flags, const Session& session) {
  return {.copy = {.memory = flags.folder.empty() ? pipeline::kMemoryFolder : flags.folder,
                   .stop = session.stop,
                   .progress = make_progress_bar("load", "bytes", session.comm.rank() == 0),
                   .note = [&](const std::string& sentence) { say(session, sentence); }},
          .when = when(flags),
          .machines = {.replicas = flags.replicas,
                       .partitions = flags.partitions,
                       .ranks_per_machine = flags.ranks_per_machine},
          .segment_bytes = flags.segment_mib << 20};
}

void say_given(const pipeline::PlacedShards& placed, const Session& session) {
  if (placed.given_bytes == 0) return;
  const auto rate =
      static_cast<std::uint64_t>(static_cast<double>(placed.given_bytes) / placed.giving_seconds);
  say(session,
      fmt::format("{} went from machine to machine, in {} ({}/s)", in_bytes(placed.given_bytes),
                  in_seconds(placed.giving_seconds), in_bytes(rate)));
}

}  // namespace

pipeline::PlacedShards load_shards(const fs::path& cache, const MemoryFlags& flags,
                                   Session& session) {
  pipeline::PlacedShards placed =
      pipeline::load_shards(cache, options_of(flags, session), session.comm);
  say_given(placed, session);
  return placed;
}

pipeline::PlacedShards place_shards(const fs::path& cache, const MemoryFlags& flags,
                                    Session& session) {
  pipeline::PlacedShards placed =
      pipeline::place_shards(cache, options_of(flags, session), session.comm);
  say_given(placed, session);
  if (placed.copy) {
    say(session, fmt::format("{}, in {}", in_words(*placed.copy), placed.copy->folder().string()));
  }
  return placed;
}

}  // namespace winnow::tools
