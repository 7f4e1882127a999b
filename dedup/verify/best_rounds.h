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

// Result of comparing the pictures of a pair.
struct PictureComparison {
  Preference preference;
  double altered = 0;  // share of the common blocks that differ as if something was overlaid
};

// The two rows of a pair.
using RowPair = std::pair<std::uint32_t, std::uint32_t>;

// Compares the pictures of pair number `pair`. Called by several threads.
using ComparePair = std::function<PictureComparison(std::size_t pair)>;

// Finds the best pictures among those that show the same, with few comparisons.
//
// pairs    Rows that show the same picture, most probable first.
// places   For each row its rank in a guessed order; the best has the smallest.
// Returns  For each pair its result; nullopt if it was not compared.
// Rounds   In each component, the first row by `places` is compared with its most probable
//          neighbours, and with all of them unless most are better. A better row is tried next. The
//          best row tried and its neighbours are then finished, and the rest continues likewise.
//          That is about one comparison for each row that is not a best one.
// Others   If a pair gives no sure result but one picture was altered, both are compared with a
//          third one of the same picture: the altered one differs from it in more places.
// Errors   What `compare` throws.
// A pure function of its arguments, for any number of threads.
std::vector<std::optional<PictureComparison>> compare_for_best(
    std::span<const RowPair> pairs, std::span<const std::uint32_t> places,
    const ComparePair& compare);

}  // namespace winnow::dedup
