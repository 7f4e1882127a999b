#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/experiment/last_look.h"
#include "app/experiment/sweep_table.h"

namespace winnow::app {

// What a sweep's page and tables are made of.
struct SweepView {
  std::string cache;  // as people call it
  std::vector<SweepArm> arms;
  std::vector<ArmResult> results;
  SweepJudge judge;
  LastLook test;
  std::vector<std::string> commands;  // that train each arm's first run
  std::vector<std::string> notes;
  std::vector<std::string> classes;          // names, any bytes
  std::vector<std::uint64_t> class_samples;  // training samples of each
};

// "no loss", "a loss", "not shown"; empty where nothing can be said.
std::string loss_in_words(const ArmResult& result);

// The same with why an arm has fewer runs than others: "a loss, stopped after 3 seeds".
std::string verdict_in_words(const SweepArm& arm, const ArmResult& result);

// A row for each run. Nothing in it tells of times. Pure, as all here.
std::string sweep_csv(const SweepView& view);
// A row for each class of each arm.
std::string classes_csv(const SweepView& view);

// It needs nothing but itself and is well-formed XML too. `made`: when, by what.
std::string html_of(const SweepView& view, const std::string& made);

}  // namespace winnow::app
