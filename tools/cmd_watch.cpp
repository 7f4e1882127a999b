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
      R"(One run is shown as a whole: how far it is and how long it still takes, curves of loss and
accuracy, what the time goes into, each rank with what it computes, waits for and holds, the slowest
marked, and who waits for whom. Of several runs each has a row. It reads what runs write and changes
nothing: look from any machine that sees the folder, also by ssh. Ctrl-C ends the view, not the run.
Where stderr is no terminal, it prints a line on stdout whenever a run has news, until all have
ended.

Examples:
  winnow watch run
  winnow watch sweep/runs/*
  ssh -t cluster winnow watch /data/run
  winnow watch run --once)");
  return {verb, false, [o](Session& session) { watch_runs(*o, session.stop); }, /*stops=*/true};
}

}  // namespace winnow::tools
