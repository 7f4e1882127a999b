#include <filesystem>
#include <memory>

#include "app/report/read_runs.h"
#include "app/report/report.h"
#include "common/error.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/live_run.h"

namespace winnow::tools {
namespace {

void draw_live(const ReportRequest& o, const Session& session) {
  if (o.runs.size() > 1) throw UsageError("--live draws one run; winnow watch draws several");
  require_run(o.runs.front());
  if (!can_show_live()) {
    throw UsageError(
        "--live draws in a terminal, but stderr is not one; use winnow watch for lines of text, or "
        "--out for a page");
  }
  watch_runs({.runs = o.runs}, session.stop);
}

}  // namespace

Command add_report(Verb program) {
  auto o = std::make_shared<ReportRequest>();
  auto live = std::make_shared<bool>(false);
  const Verb verb =
      program.add_verb("report", "Write a page of one training run, or of several side by side");
  verb.add_option("runs", o->runs, "Run directories made by winnow train").required();
  const Flag out = verb.add_option("--out", o->out, "Write the page here, an HTML file");
  verb.add_option(
      "--cache", o->cache,
      "Cache with the wrongly predicted images (default: where it was when the run was evaluated)");
  verb.add_flag("--live", *live,
                "In place of a page: draw one run in this terminal, as winnow watch does")
      .excludes(out);
  verb.footer(
      R"(The page is self-contained: curves, figures, settings that differ, and the confusions of the last
evaluation, with the worst mistakes as pictures. The run may still be going on.

Examples:
  winnow report run --out run.html
  winnow report small large larger --out compared.html
  winnow report run --live)");
  return {verb, false,
          [o, live](Session& session) { *live ? draw_live(*o, session) : run_report(*o, session); },
          /*stops=*/true};
}

}  // namespace winnow::tools
