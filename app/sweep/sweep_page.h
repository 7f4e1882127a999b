#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/experiment/last_look.h"
#include "app/experiment/sweep_table.h"

namespace winnow::app {

// Content of a sweep's page and tables.
struct SweepView {
  std::string cache;  // name for people
  std::vector<SweepArm> arms;
  std::vector<ArmResult> results;
  SweepJudge judge;
  LastLook test;
  std::vector<std::string> commands;  // command of each arm's first run
  std::vector<std::string> notes;
  std::vector<std::string> classes;          // names, any bytes
  std::vector<std::uint64_t> class_samples;  // training samples of each class
};

// "no loss", "a loss", "not shown"; empty if nothing can be said.
std::string loss_in_words(const ArmResult& result);

// The verdict, and why an arm has fewer runs than others: "a loss, stopped after 3 seeds".
std::string verdict_in_words(const SweepArm& arm, const ArmResult& result);

// One row per run, without any times. Pure, as all functions here.
std::string sweep_csv(const SweepView& view);
// One row per class and arm.
std::string classes_csv(const SweepView& view);

// Self-contained HTML, also well-formed XML. `made`: when and by what.
std::string html_of(const SweepView& view, const std::string& made);

}  // namespace winnow::app
