#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "dedup/search/scan.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// Codes to be compared with each other or with those of another side, and their row numbers, which
// edges refer to.
struct JoinSide {
  CodePlanes codes;
  const std::uint32_t* names;  // codes.count of them
};

// Reports every pair of codes within `radius` bits once to `sink`. Without `right`: pairs of two
// codes in `left`. With `right`: pairs of a code in `left` (edge.a) and one in `right` (edge.b).
//
// In       The codes of a side should be distinct: n equal ones give all their n * (n - 1) / 2
//          pairs.
// Out      Exact for any codes. Order and batches depend on threads.
// part     Only pairs of this part of the work are reported (find_edges_of_part).
// Returns  A number that identifies how the work was divided.
std::uint64_t join(const JoinSide& left, const std::optional<JoinSide>& right, int radius,
                   const SearchPart& part, const SearchOptions& options, const EdgeSink& sink);

}  // namespace winnow::dedup
