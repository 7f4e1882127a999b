#pragma once

#include <string>
#include <vector>

#include "tools/experiment/last_look.h"
#include "tools/experiment/sweep_table.h"

namespace winnow::tools {

// What a sweep's page and tables are made of.
struct SweepView {
  std::string cache;  // as people call it
  std::vector<SweepArm> arms;
  std::vector<ArmResult> results;
  SweepJudge judge;
  LastLook test;
  std::vector<std::string> commands;  // that train each arm's first run
  std::vector<std::string> notes;
};

// "no loss", "a loss", "not shown"; empty where nothing can be said.
std::string loss_in_words(const ArmResult& result);

// A row for each arm, with its accuracy by seed. Pure, as the page.
std::string sweep_csv(const SweepView& view);

// It needs nothing but itself and is well-formed XML too. `made`: when, by what.
std::string html_of(const SweepView& view, const std::string& made);

}  // namespace winnow::tools
