#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "app/page/gallery.h"

namespace winnow::app {

// Distributes `most` places evenly over groups of the given sizes. Pure.
//
// Small  a group smaller than an even share gets as many places as it has members; the others share
//        the rest evenly
// Many   with more groups than places, the largest groups get one place each
// Out    places of each group; their sum is min(most, sum of sizes)
std::vector<std::size_t> share_out(std::size_t most, std::span<const std::size_t> sizes);

// Samples which groups a page shows if it cannot show all. Returns ascending indices into `facts`,
// at most `most`. Stratified by first reason, then distance, then class; evenly spaced within a
// class. Deterministic. Pure.
std::vector<std::size_t> draw_groups(std::span<const GroupFacts> facts, std::size_t most);

// The number of a group's most urgent GroupReason; kGroupReasonCount if it has none. For a single
// picture: kGroupReasonCount + 1 + the number of its first issue.
int first_reason(const GroupFacts& facts) noexcept;

}  // namespace winnow::app
