#include <memory>

#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/live_run.h"

namespace winnow::tools {

Command add_watch(Verb program) {
  auto o = std::make_shared<WatchOptions>();
  const Verb verb = program.add_verb("watch", "Watch running trainings in the terminal");
  verb.add_option("runs", o->runs, "Run directories made by winnow train").required();
  verb.add_flag("--once", o->once, "Print the state of each run on one line, and exit");
  verb.footer(
      R"(A single run is shown in full: progress and time left, curves of loss and accuracy, where the time
goes, what each rank computes, waits for and holds, with the slowest marked, and who waits for whom.
Several runs have a row each. It only reads what runs write: it works from any machine that sees the
folder, also by ssh. Ctrl-C ends the view, not the run. If stderr is no terminal, it prints a line on
stdout whenever a run has news, until all have ended.

Examples:
  winnow watch run
  winnow watch sweep/runs/*
  ssh -t cluster winnow watch /data/run
  winnow watch run --once)");
  return {verb, false, [o](Session& session) { watch_runs(*o, session.stop); }, /*stops=*/true};
}

}  // namespace winnow::tools
