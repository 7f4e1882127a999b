#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

// Fewest lines of the table of ranks: the header, two ranks, and which rank waits for which.
inline constexpr int kLeastRankRows = 4;

// The ranks of a run as a table, with > at the slowest, and a sentence on which rank others wait
// for. Pure.
//
// most     number of lines, at least kLeastRankRows
// Out      lines of at most `width` characters; a wider terminal gets more columns, and a bar of
//          how each rank spends its time
// Many     if not all ranks fit, the slowest come first
// Unknown  if there are no figures of each rank: their minimum, median and maximum
// Empty    if there is only one rank, or no figures at all
std::vector<std::string> rank_rows(const LiveState& state, int width, int most);

// Which rank the others wait for, by the time each rank takes before it joins the all-reduce:
// "others wait for rank 1 (h2): 2.1 s against 1.2 s, in computing". Empty: one rank, or unknown.
// Pure.
std::string waits_of(const train::RankTable& ranks);

}  // namespace winnow::app
