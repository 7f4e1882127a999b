#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/sweep_table.h"

// Verdicts from the results of a sweep: which point (deduplication setting) is recommended, and
// which points need no more seeds. Pure functions.
namespace winnow::app {

// The index of the recommended arm; nullopt: none is known.
// Choice  Among the points (deduplication settings) without loss of accuracy, the one that removes
//         most; on a tie, the one with fewest training images. With judge.most_images: the most
//         accurate point that keeps at most that many.
// Never   a control, a point that loses classes, or one with a diverged run
std::optional<std::size_t> recommend(const std::vector<SweepArm>& arms,
                                     const std::vector<ArmResult>& results,
                                     const SweepJudge& judge);
// The recommendation with its reason, as a sentence.
std::string recommendation(const std::vector<SweepArm>& arms, const std::vector<ArmResult>& results,
                           const SweepJudge& judge);

// Number of seeds that each arm is trained with before any is stopped.
inline constexpr std::size_t kFirstSeeds = 3;

// Removes jobs of arms that can no longer be recommended: each of them keeps its first `seeds`
// jobs.
//
// Stopped  A point, if the confidence interval of its difference to all images lies below the
//          margin, and so does that of a point of the same series and budget that removes less. A
//          control, if all its points are stopped.
// In       Outcomes of the first `seeds` jobs of each arm exist. No other outcomes are read, so
//          that the decision does not depend on which other jobs are done.
// Never    with judge.most_images
std::vector<SweepArm> without_lost(std::vector<SweepArm> arms, const SweepJudge& judge,
                                   std::size_t seeds, const OutcomeOf& outcome_of);

}  // namespace winnow::app
