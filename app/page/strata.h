#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "app/page/gallery.h"

namespace winnow::app {

// Shares `most` places among kinds of these sizes. Pure.
//
// Small  a kind that has no more than an even share gets all it needs; the rest is shared evenly
//        among the others
// Many   if there are more kinds than `most`, the largest get one each
// Out    adds up to the smaller of `most` and the sum of sizes
std::vector<std::size_t> share_out(std::size_t most, std::span<const std::size_t> sizes);

// Which groups a page shows if it cannot show all: places in `facts`, ascending, at most `most`.
// Stratified by first reason, then distance, then class; within a class evenly spaced.
// Deterministic. Pure.
std::vector<std::size_t> draw_groups(std::span<const GroupFacts> facts, std::size_t most);

// The number of a group's first reason, kGroupReasonCount if it has none; for a picture, a number
// after these for its first issue.
int first_reason(const GroupFacts& facts) noexcept;

}  // namespace winnow::app
