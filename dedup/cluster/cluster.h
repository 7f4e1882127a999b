#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/index/index.h"

namespace winnow::dedup {

// Which rows hang together, directly or through others.
struct Components {
  std::vector<std::uint32_t> of_row;  // numbers from 0, in the order of their first rows
  std::uint32_t count = 0;
};

// Connected components of `row_count` rows under the edges, by union-find (Tarjan 1975, with path
// halving). A row without an edge is a component of its own. The order of the edges is irrelevant.
Components connected_components(std::size_t row_count, std::span<const Edge> edges);

// The components of two or more rows, each ascending, in the order of their numbers.
std::vector<std::vector<std::uint32_t>> members_of_groups(const Components& components);

}  // namespace winnow::dedup
