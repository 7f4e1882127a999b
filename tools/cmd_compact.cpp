
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
      R"(Samples keep their ids. For each one left out, the ledger names the sample that is kept for it.
The new cache has its own digest: selections, runs and checkpoints of the old cache only fit the old
one. Run winnow dedup on the new one if needed; train --init-from starts from an older run's weights.
Remove the old cache with winnow cache drop --delete.

Ctrl-C, SIGTERM, SIGUSR1 or SIGHUP stops it (exit code 75). After any interruption, the same command
resumes after the finished shards.

Examples:
  winnow compact cache --selection default --out small
  winnow compact cache --selection near --out small && winnow cache drop cache --delete)");
  return {verb, false, [o](Session& session) { run_compact(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
