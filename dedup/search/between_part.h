#pragma once

#include <cstdint>
#include <span>

#include "dedup/search/search.h"

namespace winnow::dedup {

// One part of a search between two sets of rows that several processes share: find_edges_between()
// divided as find_edges_of_part() divides find_edges(). Same requirements and returned number as
// find_edges_of_part().
std::uint64_t find_edges_between_part(const CodedRows& a, const CodedRows& b, int radius,
                                      const SearchPart& part, const EdgeSink& sink,
                                      const SearchOptions& options = {});

}  // namespace winnow::dedup
