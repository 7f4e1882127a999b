#pragma once

#include <string>
#include <vector>

#include "app/tune_lr/tune_lr_look.h"
#include "app/tune_lr/tune_lr_plan.h"

namespace winnow::app {

// Content of the page and the tables of `winnow tune-lr`. All functions are pure.
struct TuneView {
  const TunePlan& plan;
  const TuneState& state;  // state of the search, which must have ended
  const std::vector<TuneRow>& rows;
  TuneJudge judge;
  TuneLook test = {};
};

// The command line that trains the run of a job, for any machine.
std::string command_of(const TuneView& view, const std::string& job);
// The best setting of an arm (one optimiser at one batch size) and its result, in a sentence
// without its full stop.
std::string in_words(const TuneView& view, std::size_t arm);
// All advice for the user: the notes of the plan, and advice_of() each arm (one optimiser at one
// batch size).
std::vector<std::string> advice_of(const TuneView& view);

// CSV with one row per arm (one optimiser at one batch size). It has no times, so that it can be
// reproduced.
std::string table_csv(const TuneView& view);
// CSV with one row per training run of a trial.
std::string trials_csv(const TuneView& view);
// The results as JSON on one line.
std::string json_of(const TuneView& view);
// The page: self-contained HTML, well-formed XML, too. `made`: when, by which version and on which
// machine.
std::string html_of(const TuneView& view, const std::string& made);

}  // namespace winnow::app
