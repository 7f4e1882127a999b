#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/experiment/last_look.h"
#include "app/experiment/sweep_table.h"

namespace winnow::app {

// Content of the page and the tables of a sweep.
struct SweepView {
  std::string cache;  // name of the cache, as shown to people
  std::vector<SweepArm> arms;
  std::vector<ArmResult> results;
  SweepJudge judge;
  LastLook test;
  std::vector<std::string> commands;  // for each arm, the command of its first run
  std::vector<std::string> notes;
  std::vector<std::string> classes;          // names of the classes, any bytes
  std::vector<std::uint64_t> class_samples;  // number of training samples of each class
};

// The verdict on an arm (a way to thin the training data): "no loss", "a loss", "not shown"
// (neither is significant). Empty if there are too few runs.
std::string loss_in_words(const ArmResult& result);

// The verdict on an arm (a way to thin the training data), and why it has fewer runs than others:
// "a loss, stopped after 3 seeds".
std::string verdict_in_words(const SweepArm& arm, const ArmResult& result);

// CSV with one row per run. It has no times, so that it can be reproduced. Pure, as all functions
// here.
std::string sweep_csv(const SweepView& view);
// CSV with one row per class and arm (a way to thin the training data).
std::string classes_csv(const SweepView& view);

// The page of a sweep: self-contained HTML, well-formed XML, too. `made`: when, by which version
// and on which machine.
std::string html_of(const SweepView& view, const std::string& made);

}  // namespace winnow::app
