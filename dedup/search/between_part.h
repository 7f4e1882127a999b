#pragma once

#include <cstdint>
#include <span>

#include "dedup/search/search.h"

namespace winnow::dedup {

// One part of the edges of find_edges_between(), as find_edges_of_part() gives for find_edges().
// Requirements and returned number are those of find_edges_of_part().
std::uint64_t find_edges_between_part(const CodedRows& a, const CodedRows& b, int radius,
                                      const SearchPart& part, const EdgeSink& sink,
                                      const SearchOptions& options = {});

}  // namespace winnow::dedup
