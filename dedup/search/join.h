#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "dedup/search/scan.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// Codes to be joined, and the row number of each in edges.
struct JoinSide {
  CodePlanes codes;
  const std::uint32_t* names;  // codes.count of them
};

// Reports every pair within `radius` bits once to `sink`: of one code and a later one in `left` or,
// with `right`, of one code of each side (edge.a names the left one).
//
// In       The codes of a side should be distinct. Equal ones are found as all their pairs.
// Out      Exact for any codes. Order and batches depend on threads.
// part     Only the pairs of this part are reported (find_edges_of_part). Returns the number that
//          identifies how work was divided.
std::uint64_t join(const JoinSide& left, const std::optional<JoinSide>& right, int radius,
                   const SearchPart& part, const SearchOptions& options, const EdgeSink& sink);

}  // namespace winnow::dedup
