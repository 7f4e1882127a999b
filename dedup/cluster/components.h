#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/search/search.h"

namespace winnow::dedup {

// Which rows hang together, directly or through others.
struct Components {
  std::vector<std::uint32_t> of_row;  // numbers from 0, in the order of their first rows
  std::uint32_t count = 0;
};

// Union-find (Tarjan 1975, with path halving) over rows that are alone at first. The order in which
// they are united is irrelevant.
class UnionFind {
 public:
  explicit UnionFind(std::size_t row_count);
  void unite(std::span<const Edge> edges);
  // The same of one; whether it brought together what was not.
  bool unite(const Edge& edge);
  // The first row of what it is in.
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
