#pragma once

#include <string>
#include <vector>

#include "app/tune_lr/tune_lr_look.h"
#include "app/tune_lr/tune_lr_plan.h"

namespace winnow::app {

// What the page and the tables of a tuning are made of. All of it is pure.
struct TuneView {
  const TunePlan& plan;
  const TuneState& state;  // ended
  const std::vector<TuneRow>& rows;
  TuneJudge judge;
  TuneLook test = {};
};

// The command that trains a job's run, anywhere.
std::string command_of(const TuneView& view, const std::string& job);
// In a sentence without its full stop: the best setting of an arm and what it comes to.
std::string in_words(const TuneView& view, std::size_t arm);
// The plan's notes, and advice_of() all arms.
std::vector<std::string> advice_of(const TuneView& view);

// A row for each arm: the table of large batches. Nothing of it depends on how long runs took.
std::string table_csv(const TuneView& view);
// A row for each run of a trial.
std::string trials_csv(const TuneView& view);
// One line.
std::string json_of(const TuneView& view);
// It needs nothing but itself and is well-formed XML too. `made`: when, by what.
std::string html_of(const TuneView& view, const std::string& made);

}  // namespace winnow::app
