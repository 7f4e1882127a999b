#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/figures.h"
#include "app/experiment/sweep_table.h"

// What the arms that are reported come to on test, which is looked at when all else is decided.
// Pure functions.
namespace winnow::app {

// Accuracies of runs on test, by seed; nothing: no such run.
struct TestedRuns {
  std::vector<std::optional<double>> top1 = {};
  // Without the images that have a duplicate in training. Nothing where all have one, or that is
  // not known.
  std::vector<std::optional<double>> top1_leak_free = {};
};

struct TestedArm : TestedRuns {
  std::size_t arm = 0;
  std::optional<PairedDifference> beside_all = {};  // leak-free where that is there
};

struct LastLook {
  std::uint64_t images = 0;          // of test
  std::uint64_t leaked = 0;          // of them, with a duplicate in training
  std::uint64_t looks = 0;           // for different choices, this one included
  std::vector<TestedArm> arms = {};  // all, the recommended one, its control
  std::string why_not = {};          // a sentence where test was not looked at: no arms are there
};

// Those to report of: all, the recommended one and its control.
std::vector<std::size_t> arms_to_test(const std::vector<SweepArm>& arms, std::size_t recommended);

// In      `outcome_of`: that of the job by which a run was evaluated, `{"top1": ...,
//         "top1_leak_free": ...}`; nothing: that run failed
// Errors  FormatError: an outcome that is none of an evaluation
TestedRuns tested_runs(const std::vector<std::string>& runs, const OutcomeOf& outcome_of);
std::vector<TestedArm> tested_arms(const std::vector<SweepArm>& arms,
                                   const std::vector<std::size_t>& places, std::uint64_t images,
                                   const OutcomeOf& outcome_of);

// In a sentence without its full stop.
std::string in_words(const LastLook& look, const std::vector<SweepArm>& arms);

}  // namespace winnow::app
