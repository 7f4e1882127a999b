#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dedup/policy/preference.h"

namespace winnow::dedup {

// What the pictures of a pair told.
struct ToldPair {
  Preference preference;
  double altered = 0;  // share of the blocks both show that differ as by something laid on
};

// The two rows of a pair.
using RowPair = std::pair<std::uint32_t, std::uint32_t>;

// What comparing the pictures of a pair tells, by the pair's number. Called by several threads.
using ComparePair = std::function<ToldPair(std::size_t pair)>;

// Which pictures are the best of those that show the same, by few comparisons.
//
// pairs    of rows that show the same, the most probable first
// places   by row its place in an order that guesses who is best: less comes first
// Returns  by pair what it told; nothing where it was not compared
// Rounds   of what hangs together the first row by `places` is compared with its most probable
//          neighbours, and with all of them unless most are better. A row that is better than it is
//          tried next. The best of those tried and its neighbours are done, and what is left of
//          them goes on as before. That is about one comparison for each row that is not a best one
// Others   where a pair tells nothing surely, but one was altered, both are compared with a third
//          that shows the same: the altered one differs from it in more places
// A pure function of its arguments, for any number of threads. What `compare` throws is thrown.
std::vector<std::optional<ToldPair>> compare_for_best(std::span<const RowPair> pairs,
                                                      std::span<const std::uint32_t> places,
                                                      const ComparePair& compare);

}  // namespace winnow::dedup
