#include "app/compact/compact.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/words.h"
#include "common/json.h"

namespace winnow::app {
namespace {

std::uint64_t bytes_of(const pipeline::Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const pipeline::ShardInfo& shard : manifest.shards) bytes += shard.bytes;
  return bytes;
}

}  // namespace

void run_compact(const CompactRequest& o, Session& session) {
  pipeline::CompactOptions options = o.options;
  options.stop = session.stop;
  options.threads = thread_plan(session, o.options.threads).decode;
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  pipeline::CompactResult result;
  {
    const ProgressSink bar = progress_bar(session, "compact", "samples");
    result = pipeline::compact(cache, o.out, options, bar);
  }
  const double rate = static_cast<double>(result.kept_here) / std::max(result.seconds, 1e-9);
  const std::uint64_t before = bytes_of(cache.manifest());
  const std::uint64_t bytes = bytes_of(result.manifest);
  say(session, fmt::format("{} kept, {} left out in {:.1f} s ({:.0f} samples a second): {} MiB of "
                           "the cache's {} MiB",
                           count_of(result.kept, "sample"), grouped(result.removed), result.seconds,
                           rate, grouped(bytes >> 20), grouped(before >> 20)));
  say(session,
      fmt::format("cache: {}; selections of {} were not copied, because they only fit that cache",
                  o.out.string(), o.cache.string()));
  if (!o.json) return;
  const Json json{{"schema", "winnow.compact/1"},
                  {"selection", options.selection},
                  {"kept", result.kept},
                  {"removed", result.removed},
                  {"shards", result.manifest.shards.size()},
                  {"bytes", bytes},
                  {"bytes_before", before},
                  {"samples_per_second", rate},
                  {"digest", result.digest},
                  {"digest_before", cache.digest()}};
  print(session, fmt::format("{}\n", json.dump()));
}

}  // namespace winnow::app
