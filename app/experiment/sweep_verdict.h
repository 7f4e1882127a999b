#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/sweep_table.h"

// Verdicts from a sweep's table: which point is recommended, and which need no more seeds. Pure
// functions.
namespace winnow::app {

// The recommended point; nullopt: none is known.
// Choice  The point that removes most among those that lose nothing; on a tie, the one with fewest
//         training images. With judge.most_images: the most accurate of those that keep that few.
// Never   a control, a point that loses classes, or one with a diverged run
std::optional<std::size_t> recommend(const std::vector<SweepArm>& arms,
                                     const std::vector<ArmResult>& results,
                                     const SweepJudge& judge);
// The recommendation with its reason, in a sentence.
std::string recommendation(const std::vector<SweepArm>& arms, const std::vector<ArmResult>& results,
                           const SweepJudge& judge);

// Seeds that each point gets before any is stopped.
inline constexpr std::size_t kFirstSeeds = 3;

// The arms without jobs that cannot matter. An arm that is stopped keeps `seeds` jobs.
//
// Stopped  a point, if its interval against all lies below the margin, and so does that of a point
//          of the same series and budget that removes less; a control, if all its points are
//          stopped
// In       Outcomes of the first `seeds` jobs of each arm exist. No others are asked for, so that
//          the decision does not depend on what else was done.
// Never    with judge.most_images
std::vector<SweepArm> without_lost(std::vector<SweepArm> arms, const SweepJudge& judge,
                                   std::size_t seeds, const OutcomeOf& outcome_of);

}  // namespace winnow::app
