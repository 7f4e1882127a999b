#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/sweep_table.h"

// What is made of a sweep's table: which point is recommended, and which need no more seeds. Pure
// functions.
namespace winnow::app {

// The point that removes most of those that lose nothing; of equal ones the one that trains on
// fewest images. Where judge.most_images says so, the most accurate of those that keep so few.
// Never a control, one that loses classes, or one of which a run diverged. Nothing: none is known.
std::optional<std::size_t> recommend(const std::vector<SweepArm>& arms,
                                     const std::vector<ArmResult>& results,
                                     const SweepJudge& judge);
// The same with its reason, in a sentence.
std::string recommendation(const std::vector<SweepArm>& arms, const std::vector<ArmResult>& results,
                           const SweepJudge& judge);

// Of how many seeds each point has before any is stopped.
inline constexpr std::size_t kFirstSeeds = 3;

// The arms without those jobs that cannot matter: a point whose interval beside all lies below the
// margin, as does that of one which removes less, of the same series and budget, has `seeds` jobs
// and no more; so has a control whose points are all stopped.
//
// In    The outcomes of the first `seeds` jobs of each arm are there. No others are asked for, so
//       that the same is decided whatever else was done.
// Pure  Where judge.most_images is given nothing is stopped.
std::vector<SweepArm> without_lost(std::vector<SweepArm> arms, const SweepJudge& judge,
                                   std::size_t seeds, const OutcomeOf& outcome_of);

}  // namespace winnow::app
