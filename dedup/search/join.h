#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "dedup/search/scan.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// Codes to be joined and what each is called in edges.
struct JoinSide {
  CodePlanes codes;
  const std::uint32_t* names;  // codes.count of them
};

// Gives `sink` every pair within `radius` bits once: of one code and a later one in `left`, or,
// where there is a `right`, of one on either side (edge.a names the left one). The codes of a side
// should be distinct: equal ones are found, but all pairs of them. Exact whatever the codes; in
// what order, and in which batches, depends on threads. Of a part (see find_edges_of_part) those
// pairs that are its own; returns the number that tells how work was divided.
std::uint64_t join(const JoinSide& left, const std::optional<JoinSide>& right, int radius,
                   const SearchPart& part, const SearchOptions& options, const EdgeSink& sink);

}  // namespace winnow::dedup
