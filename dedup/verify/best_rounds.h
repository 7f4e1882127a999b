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

// Result of comparing two pictures pixel by pixel: which one is better.
struct PictureComparison {
  Preference preference;
  double altered = 0;  // share of their common blocks that differ as if something was overlaid
};

// The two rows of a pair of pictures.
using RowPair = std::pair<std::uint32_t, std::uint32_t>;

// Compares the two pictures of the pair with this number. Called by several threads.
using ComparePair = std::function<PictureComparison(std::size_t pair)>;

// Finds the best picture in each group of pictures that show the same, with few comparisons.
//
// pairs    Pairs of rows that show the same picture, most probable first.
// places   For each row its rank in a guessed order; 0 is the best.
// Returns  For each pair the result of its comparison; nullopt if it was not compared.
// Rounds   In each component, the row with the smallest rank is compared with its most probable
//          neighbours, and with all of its neighbours unless most of them are better. A better row
//          is tried next. In the end the best of these rows and its neighbours are set aside, and
//          the rest of the component is treated likewise. That takes about one comparison for each
//          row that is not a best one.
// Others   If a pair gives no sure result but one picture was altered, both are compared with a
//          third one of the same picture: the altered one differs from it in more places.
// Errors   Exceptions of `compare`.
// A pure function of its arguments, for any number of threads.
std::vector<std::optional<PictureComparison>> compare_for_best(
    std::span<const RowPair> pairs, std::span<const std::uint32_t> places,
    const ComparePair& compare);

}  // namespace winnow::dedup
