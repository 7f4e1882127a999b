#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/figures.h"
#include "app/experiment/sweep_table.h"

// Accuracy on test of the arms that are reported. Test is looked at once everything else is
// decided. Pure functions.
namespace winnow::app {

// Accuracies of runs on test, by seed; nullopt: no such run.
struct TestedRuns {
  std::vector<std::optional<double>> top1 = {};
  // Without the images that have a duplicate in training. Nullopt if all have one, or if that is
  // unknown.
  std::vector<std::optional<double>> top1_leak_free = {};
};

struct TestedArm : TestedRuns {
  std::size_t arm = 0;
  std::optional<PairedDifference> versus_all = {};  // leak-free if it is known
};

struct LastLook {
  std::uint64_t images = 0;          // number of test images
  std::uint64_t leaked = 0;          // test images with a duplicate in training
  std::uint64_t looks = 0;           // number of different choices that were tested, with this one
  std::vector<TestedArm> arms = {};  // all, the recommended one, its control
  std::string why_not = {};          // a sentence if test was not looked at; there are no arms then
};

// The arms to report: all, the recommended one and its control.
std::vector<std::size_t> arms_to_test(const std::vector<SweepArm>& arms, std::size_t recommended);

// In      `outcome_of`: outcome of the job that evaluated a run, `{"top1": ..., "top1_leak_free":
//         ...}`; nullopt: the run failed
// Throws  FormatError: an outcome that is none of an evaluation
TestedRuns tested_runs(const std::vector<std::string>& runs, const OutcomeOf& outcome_of);
std::vector<TestedArm> tested_arms(const std::vector<SweepArm>& arms,
                                   const std::vector<std::size_t>& places, std::uint64_t images,
                                   const OutcomeOf& outcome_of);

// A sentence without its full stop.
std::string in_words(const LastLook& look, const std::vector<SweepArm>& arms);

}  // namespace winnow::app
