#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

inline constexpr int kLeastRankRows = 4;  // the head, two ranks, who waits for whom

// The ranks of a run as rows of a table, the slowest marked by >, and a sentence on who waits for
// whom. Pure.
//
// In       `most`: lines, at least kLeastRankRows
// Out      lines of at most `width` characters; a wider terminal gets more columns, and a bar of
//          where each rank's time went
// Many     if not all fit, the slowest come first
// Unknown  without figures for each rank: minimum, median and maximum
// Empty    for one rank, or without any figures
std::vector<std::string> rank_rows(const LiveState& state, int width, int most);

// Who waits for whom, from the time that ranks took before they joined the sums: "others wait for
// rank 1 (h2): 2.1 s against 1.2 s, in computing". Empty: one rank, or unknown. Pure.
std::string waits_of(const train::RankTable& ranks);

}  // namespace winnow::app
