#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/figures.h"
#include "app/experiment/sweep_table.h"

// Accuracy on the test split of the reported arms of a sweep (ways to thin the training data). Test
// is evaluated once, after everything else is decided. Pure functions.
namespace winnow::app {

// Test accuracies of the runs of an arm (a way to thin the training data), by seed; nullopt: there
// is no such run.
struct TestedRuns {
  std::vector<std::optional<double>> top1 = {};
  // Accuracy without the test images that have a duplicate in training. Nullopt: all images have
  // one, or duplicates are unknown.
  std::vector<std::optional<double>> top1_leak_free = {};
};

struct TestedArm : TestedRuns {
  std::size_t arm = 0;
  // Accuracy difference to the arm that keeps all images; without leaked test images if these are
  // known.
  std::optional<PairedDifference> versus_all = {};
};

struct LastLook {
  std::uint64_t images = 0;
  std::uint64_t leaked = 0;  // number of test images with a duplicate in training
  // Number of different recommendations that were evaluated on test so far, including this one.
  std::uint64_t looks = 0;
  std::vector<TestedArm> arms = {};  // at most three: all images, the recommended arm, its control
  std::string why_not = {};  // why test was not evaluated, as a sentence; `arms` is then empty
};

// Indices of the arms to report: the one that keeps all images, the recommended one and its
// control.
std::vector<std::size_t> arms_to_test(const std::vector<SweepArm>& arms, std::size_t recommended);

// Collects the test accuracies of runs, or of arms.
// outcome_of  outcome of the job that evaluated a run, `{"top1": ..., "top1_leak_free": ...}`;
//             nullopt: the run failed
// Throws      FormatError: an outcome is not that of an evaluation
TestedRuns tested_runs(const std::vector<std::string>& runs, const OutcomeOf& outcome_of);
std::vector<TestedArm> tested_arms(const std::vector<SweepArm>& arms,
                                   const std::vector<std::size_t>& places, std::uint64_t images,
                                   const OutcomeOf& outcome_of);

// The test accuracies in a sentence without its full stop.
std::string in_words(const LastLook& look, const std::vector<SweepArm>& arms);

}  // namespace winnow::app
