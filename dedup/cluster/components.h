#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/search/search.h"

namespace winnow::dedup {

// Connected components of rows.
struct Components {
  // By row: number of its component; numbered from 0, in the order of first rows.
  std::vector<std::uint32_t> of_row;
  std::uint32_t count = 0;
};

// Union-find (Tarjan 1975, with path halving): merges sets of rows. Each row starts as a set of its
// own. The result does not depend on the order of unions.
class UnionFind {
 public:
  explicit UnionFind(std::size_t row_count);
  void unite(std::span<const Edge> edges);
  // Merges the sets of the two rows of an edge. Returns whether these were different sets.
  bool unite(const Edge& edge);
  // The lowest row of the set that `row` is in.
  std::uint32_t root_of(std::uint32_t row) noexcept;
  Components components() &&;

 private:
  std::vector<std::uint32_t> parent_;
};

// Connected components of the graph with rows 0 .. row_count - 1 and these edges. A row without an
// edge is a component of its own.
Components connected_components(std::size_t row_count, std::span<const Edge> edges);

// The rows of every component, in the order of the components' numbers; ascending in each.
Ragged<std::uint32_t> rows_by_component(const Components& components);

// The components of two or more rows, in the order of their numbers; rows ascend in each.
std::vector<std::vector<std::uint32_t>> members_of_groups(const Components& components);

}  // namespace winnow::dedup
