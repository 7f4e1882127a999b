#pragma once

#include <string>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

inline constexpr int kLeastRankRows = 4;  // a head, two ranks, who waits for whom

// The ranks of a run as rows of a table, the slowest marked by >, and a sentence on who waits for
// whom. Where not all fit, the slowest come first. Of a run of several ranks that stored no figures
// of each, the least, median and greatest. None: a run of one rank, or one that stored neither.
//
// In   `most`: lines, at least kLeastRankRows
// Out  lines of at most `width` characters; with more width more columns, and a bar of what the
//      time of each rank went into
// Pure.
std::vector<std::string> rank_rows(const LiveState& state, int width, int most);

// Who waits for whom, by what ranks did before they joined the sums: "others wait for rank 1 (h2):
// 2.1 s against 1.2 s, in computing". Empty: one rank, or none is known. Pure.
std::string waits_of(const train::RankTable& ranks);

}  // namespace winnow::app
