#include "app/report/read_runs.h"

#include <string>

#include "app/words.h"
#include "common/error.h"
#include "common/file.h"
#include "train/run/record/config_facts.h"
#include "train/run/record/run_state.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

// The watched metric, according to the newest checkpoint. Empty: none, or damaged, which does not
// prevent a look at the run.
std::string read_watched(const fs::path& run) {
  const fs::path state = run / "checkpoints" / "latest" / "state.json";
  try {
    const auto best = train::parse_state(read_text(state), state.string()).best;
    return best ? best->metric : "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

void require_run(const fs::path& path) {
  if (fs::exists(path / "config.json")) return;
  throw UsageError(path.string() + " contains no run; make one with winnow train");
}

RunView read_run(const fs::path& path) {
  require_run(path);
  RunView run{.name = name_of_folder(path),
              .settings = train::config_settings(read_text(path / "config.json")),
              .rows = train::MetricsTail(path / "metrics.jsonl").read().rows};
  run.watched = read_watched(path);
  const fs::path evaluation = path / "evaluation.json";
  if (!fs::exists(evaluation)) return run;
  run.evaluation = train::parse_evaluation(read_text(evaluation), evaluation.string());
  for (const auto& mistake : run.evaluation->worst) run.mistakes.push_back({.mistake = mistake});
  return run;
}

void name_apart(std::vector<RunView>& runs, const std::vector<fs::path>& paths) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t k = 0; k < runs.size(); ++k) {
      if (k == i || name_of_folder(paths[k]) != name_of_folder(paths[i])) continue;
      runs[i].name = paths[i].string();
    }
  }
}

}  // namespace winnow::app
