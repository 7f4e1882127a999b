#include "app/load/load_shards.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "app/words.h"

namespace winnow::app {

namespace fs = std::filesystem;

std::string in_words(const pipeline::PlacedShards& placed) {
  const pipeline::ShardCopy& copy = *placed.copy;
  const std::string size = in_bytes(copy.bytes());
  if (copy.joined()) {
    return "shards: " + size +
           (placed.copied ? ", loaded by another rank" : ", which were there already");
  }
  return fmt::format("shards: {}, loaded in {} ({}/s)", size, in_seconds(copy.seconds()),
                     in_bytes(static_cast<std::uint64_t>(static_cast<double>(copy.bytes()) /
                                                         std::max(copy.seconds(), 1e-9))));
}

namespace {

pipeline::CopyWhen when(const MemoryOptions& flags) {
  if (!flags.folder.empty()) return pipeline::CopyWhen::kAlways;
  return flags.memory ? pipeline::CopyWhen::kNotInMemory : pipeline::CopyWhen::kNeeded;
}

// Options that report progress as it happens.
pipeline::PlaceOptions options_of(const MemoryOptions& flags, const Session& session) {
  return {.copy = {.memory = flags.folder.empty() ? pipeline::kMemoryFolder : flags.folder,
                   .stop = session.stop,
                   .progress = progress_bar(session, "load", "bytes"),
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

pipeline::PlacedShards load_shards(const fs::path& cache, const MemoryOptions& flags,
                                   Session& session) {
  pipeline::PlacedShards placed =
      pipeline::load_shards(cache, options_of(flags, session), session.comm);
  say_given(placed, session);
  return placed;
}

pipeline::PlacedShards place_shards(const fs::path& cache, const MemoryOptions& flags,
                                    Session& session) {
  pipeline::PlacedShards placed =
      pipeline::place_shards(cache, options_of(flags, session), session.comm);
  say_given(placed, session);
  if (placed.copy) {
    say(session, fmt::format("{}, in {}", in_words(placed), placed.copy->folder().string()));
  }
  return placed;
}

}  // namespace winnow::app
