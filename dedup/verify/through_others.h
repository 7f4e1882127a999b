#pragma once

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "dedup/verify/judge.h"

namespace winnow::dedup {

// Pairs of rows, the lower one first.
using RowPairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

// Pairs that verified ones suggest: where a row is linked to one that goes for another, which comes
// before whom the row itself goes for, the two may be one picture, and lie upon each other as both
// lie upon the one between. Who stays is told by stars in the order of rows (stars.h). Then come
// others that its links are linked to, where it has few. A row is tried with few rows at a time,
// the lowest ones, however large the crowd.
//
// pairs  sorted by rows, of determinants that are not 0
// tried  are left out, and what comes back is put to them
// Returns  sorted by rows; none where a quarter of neither would be shown by the other
std::vector<Trial> trials_through_others(std::span<const VerifiedPair> pairs, RowPairs& tried);

}  // namespace winnow::dedup
