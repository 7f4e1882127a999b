
#include "app/compact/compact.h"
#include "common/json.h"
#include "pipeline/compact/compact.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {

Command add_compact(Verb program) {
  auto o = std::make_shared<CompactRequest>();
  const Verb verb =
      program.add_verb("compact", "Make a smaller cache that holds only what a selection keeps");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest; it is only read").required();
  verb.add_option("--selection", o->options.selection, "Selection whose images are kept")
      .required();
  verb.add_option("--out", o->out, "Cache directory to make").required();
  verb.add_option("--threads", o->options.threads, "Number of CPU cores; 0: all available")
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
  return {verb, false, [o](Session& session) { run_compact(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
