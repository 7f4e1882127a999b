#pragma once

#include <string>
#include <vector>

#include "app/tune_lr/tune_lr_look.h"
#include "app/tune_lr/tune_lr_plan.h"

namespace winnow::app {

// Content of the page and the tables of a tuning. All functions are pure.
struct TuneView {
  const TunePlan& plan;
  const TuneState& state;  // must have ended
  const std::vector<TuneRow>& rows;
  TuneJudge judge;
  TuneLook test = {};
};

// The command that trains a job's run, anywhere.
std::string command_of(const TuneView& view, const std::string& job);
// A sentence without its full stop: the best setting of an arm and its result.
std::string in_words(const TuneView& view, std::size_t arm);
// The plan's notes, and advice_of() all arms.
std::vector<std::string> advice_of(const TuneView& view);

// One row per arm: the table of large batches. Does not depend on durations.
std::string table_csv(const TuneView& view);
// One row per run of a trial.
std::string trials_csv(const TuneView& view);
// On one line.
std::string json_of(const TuneView& view);
// Self-contained HTML, also well-formed XML. `made`: when and by what.
std::string html_of(const TuneView& view, const std::string& made);

}  // namespace winnow::app
