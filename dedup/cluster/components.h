#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/search/search.h"

namespace winnow::dedup {

// Connected components of rows.
struct Components {
  std::vector<std::uint32_t> of_row;  // numbered from 0, in the order of their first rows
  std::uint32_t count = 0;
};

// Union-find (Tarjan 1975, with path halving). Each row starts as its own set. The result does not
// depend on the order of unions.
class UnionFind {
 public:
  explicit UnionFind(std::size_t row_count);
  void unite(std::span<const Edge> edges);
  // Unites one edge. Returns whether the two rows were in different sets.
  bool unite(const Edge& edge);
  // The first row of the set of `row`.
  std::uint32_t root_of(std::uint32_t row) noexcept;
  Components components() &&;

 private:
  std::vector<std::uint32_t> parent_;
};

// Connected components of `row_count` rows under the edges. A row without an edge is a component of
// its own.
Components connected_components(std::size_t row_count, std::span<const Edge> edges);

// The rows of every component, each ascending, in the order of their numbers.
Ragged<std::uint32_t> rows_by_component(const Components& components);

// The components of two or more rows, each ascending, in the order of their numbers.
std::vector<std::vector<std::uint32_t>> members_of_groups(const Components& components);

}  // namespace winnow::dedup
