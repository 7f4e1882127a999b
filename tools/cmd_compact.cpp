#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "pipeline/compact/compact.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"
#include "tools/progress_bar.h"

namespace winnow::tools {
namespace {

struct CompactOptions {
  std::filesystem::path cache;
  std::filesystem::path out;
  pipeline::CompactOptions options;
  bool json = false;
};

std::uint64_t bytes_of(const pipeline::Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const pipeline::ShardInfo& shard : manifest.shards) bytes += shard.bytes;
  return bytes;
}

void run(const CompactOptions& o, Session& session) {
  pipeline::CompactOptions options = o.options;
  options.stop = session.stop;
  options.threads = thread_plan(session, o.options.threads).decode;
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  pipeline::CompactResult result;
  {
    const ProgressSink bar = make_progress_bar("compact", "samples", true);
    result = pipeline::compact(cache, o.out, options, bar);
  }
  const double rate = static_cast<double>(result.kept_here) / std::max(result.seconds, 1e-9);
  const std::uint64_t before = bytes_of(cache.manifest());
  const std::uint64_t bytes = bytes_of(result.manifest);
  say(session,
      fmt::format("{} samples kept, {} left out, in {:.1f} s, {:.0f} a second: {} MiB of {}",
                  grouped(result.kept), grouped(result.removed), result.seconds, rate,
                  grouped(bytes >> 20), grouped(before >> 20)));
  say(session,
      fmt::format("cache: {}; the selections of {} are for that one and were not taken along",
                  o.out.string(), o.cache.string()));
  if (!o.json) return;
  const nlohmann::ordered_json json{{"schema", "winnow.compact/1"},
                                    {"selection", options.selection},
                                    {"kept", result.kept},
                                    {"removed", result.removed},
                                    {"shards", result.manifest.shards.size()},
                                    {"bytes", bytes},
                                    {"bytes_before", before},
                                    {"samples_per_second", rate},
                                    {"digest", result.digest},
                                    {"digest_before", cache.digest()}};
  fmt::print("{}\n", json.dump());
}

}  // namespace

Command add_compact(Verb program) {
  auto o = std::make_shared<CompactOptions>();
  const Verb verb =
      program.add_verb("compact", "Make a smaller cache that holds only what a selection keeps");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest; it is only read").required();
  verb.add_option("--selection", o->options.selection, "What is kept").required();
  verb.add_option("--out", o->out, "Cache directory to make").required();
  verb.add_option("--threads", o->options.threads, "Cores to use; 0: all this process may")
      .check(cores())
      .show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(Samples keep their ids, and the ledger says of each that was left out what stands for it.
The new cache has a digest of its own: selections, runs and checkpoints made with the old one stay
with it. Decide again with winnow dedup on the new one if need be; a net goes on from an older run
by train --init-from. Remove the old cache with winnow cache drop --delete.

Ctrl-C, SIGTERM, SIGUSR1 or SIGHUP stops it (exit code 75). However it ended, the same command goes
on after the shards that were finished.

Examples:
  winnow compact cache --selection default --out small
  winnow compact cache --selection near --out small && winnow cache drop cache --delete)");
  return {verb, false, [o](Session& session) { run(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
