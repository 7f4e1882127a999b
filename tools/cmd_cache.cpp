#include <filesystem>

#include "app/cache/cache.h"
#include "common/json.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"
#include "tools/sub_verb.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using pipeline::CopyRow;

}  // namespace

Command add_cache(Verb program) {
  auto o = std::make_shared<CacheRequest>();
  const Verb cache = program.add_verb("cache", "Load caches into memory, list or drop them");
  const auto add_memory = [&](Verb verb) {
    verb.add_option("--memory-dir", o->memory,
                    "Folder of the copies: on a tmpfs, or on a disk of the machine")
        .show_default();
  };
  const Verb loads = cache.add_verb(
      "load",
      "Copy a cache's shards into memory, where they stay until they are dropped; machines that do "
      "not have the cache get it from those that do");
  loads.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  add_memory(loads);
  add_machine_flags(loads, o->machines);
  loads
      .add_option("--partitions", o->machines.partitions,
                  "Number of partitions of the samples, as for train --shuffle-fraction: each "
                  "machine then holds some partitions instead of some shards; 0: shards")
      .check(whole_in(0, kMostCount))
      .show_default();
  const Verb lists = cache.add_verb("list", "Show which of your caches are in memory");
  add_memory(lists);
  lists.add_flag("--json", o->json, "Print one JSON object on stdout");
  const Verb drops = cache.add_verb(
      "drop",
      "Remove a cache from memory; a cache of ingest --memory exists only there and is deleted");
  drops.add_option("cache", o->cache, "The cache, or its digest if the cache no longer exists")
      .required();
  drops.add_flag("--delete", o->deletes, "Also delete the cache itself, from disk");
  add_memory(drops);
  cache.footer(
      R"(All your processes on the machine share one copy of a cache. Blocks are checked against the hashes in
the manifest as they are loaded. train --memory, eval --memory and bench loader --memory load missing
copies themselves and leave them unpinned: such a copy is removed when another one needs the room. A
copy in use is never removed.

Examples:
  winnow cache load cache
  winnow cache load /nfs/cache --memory-dir /scratch
  mpirun --map-by ppr:1:node winnow cache load /shared/cache   # each machine its part
  mpirun -np 4 winnow cache load /data/cache    # which may exist on one machine only
  winnow cache list
  winnow cache drop cache                # the copy; the cache stays on disk
  winnow cache drop cache --delete       # all of it)");
  // Lists and drops concern one machine.
  return command_of(cache, {{loads, [o](Session& session) { load_cache(*o, session); }, true},
                            {lists, [o](Session& session) { list_copies(*o, session); }},
                            {drops, [o](Session& session) { drop_copies(*o, session); }}});
}

}  // namespace winnow::tools
