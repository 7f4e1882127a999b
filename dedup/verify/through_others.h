#pragma once

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "dedup/verify/judge.h"

namespace winnow::dedup {

// Pairs of rows, each with the lower row first.
using RowPairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

// Suggests new pairs to register, by transitivity: if r shows the same as t, and t the same as s,
// then r and s may be one picture. The map of the new pair is composed of both maps.
// - For each row r: a row s that represents a neighbour t of r, unless r has a representative that
//   comes before s. Representatives are those of star groups, made in the order of rows (stars.h).
// - If r has few links: also the neighbours of its neighbours.
// Each row is tried with few others, the lowest ones, however large the crowd.
//
// pairs    Verified pairs, sorted by rows, with determinants that are not 0.
// tried    Pairs to skip; the returned ones are added.
// Returns  Sorted by rows. Left out are pairs in which neither picture would show a quarter of the
//          other.
std::vector<Trial> trials_through_others(std::span<const VerifiedPair> pairs, RowPairs& tried);

}  // namespace winnow::dedup
