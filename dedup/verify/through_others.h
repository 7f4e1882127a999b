#pragma once

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "dedup/verify/judge.h"

namespace winnow::dedup {

// Pairs of rows, the lower one first.
using RowPairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

// Suggests new pairs from verified ones, by transitivity.
// - Row r is linked to a row between that is represented by a row s, and s comes before r's own
//   representative. Then r and s may be one picture. The map is composed of both maps.
//   Representatives are those of stars in the order of rows (stars.h).
// - If r has few links, also the rows that its links are linked to.
// Each row is tried with few others, the lowest ones, however large the crowd.
//
// pairs    Sorted by rows, with determinants that are not 0.
// tried    Pairs to skip; the returned ones are added.
// Returns  Sorted by rows. Pairs of which neither would show a quarter of the other are left out.
std::vector<Trial> trials_through_others(std::span<const VerifiedPair> pairs, RowPairs& tried);

}  // namespace winnow::dedup
