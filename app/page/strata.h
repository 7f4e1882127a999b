#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "app/page/gallery.h"

namespace winnow::app {

// Shares `most` among kinds of which there are so many each: all of a kind that has no more than an
// even share, and what that leaves evenly among the others. Where there are more kinds than `most`,
// the largest have one each. Adds up to the smaller of `most` and the sum. Pure.
std::vector<std::size_t> share_out(std::size_t most, std::span<const std::size_t> sizes);

// Which of so many groups a page shows where it cannot show all: places in `facts`, ascending, at
// most `most`. Drawn by strata: shared out by first reason, in each by distance, in each by class;
// of a class they are spread evenly. No chance is in it. Pure.
std::vector<std::size_t> draw_groups(std::span<const GroupFacts> facts, std::size_t most);

// The place of the first of a group's reasons, kGroupReasonCount where it has none; behind these,
// of a picture that of its first issue.
int first_reason(const GroupFacts& facts) noexcept;

}  // namespace winnow::app
