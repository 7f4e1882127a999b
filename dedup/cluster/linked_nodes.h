#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/components.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// The graph of linked rows (rows judged copies of each other). Equal rows form one node, which has
// the links of all of them. Nodes are numbered in the order of their first rows.
class LinkedNodes {
 public:
  LinkedNodes() = default;
  // edges   Links between rows, in any order; repeats are allowed.
  // Memory  Two 32-bit numbers an edge and two a row.
  LinkedNodes(const Components& same, std::span<const Edge> edges);

  std::size_t size() const noexcept { return rows_.size(); }
  std::uint32_t node_of(std::uint32_t row) const noexcept { return node_of_[row]; }
  const std::vector<std::uint32_t>& of_rows() const noexcept { return node_of_; }
  // Ascending.
  std::span<const std::uint32_t> rows_of(std::uint32_t node) const { return rows_[node]; }
  // The nodes linked to a node, ascending, without repeats.
  std::span<const std::uint32_t> linked_to(std::uint32_t node) const noexcept {
    return std::span(linked_).subspan(offsets_[node], offsets_[node + 1] - offsets_[node]);
  }
  // Whether these rows form a clique: each is linked to all others.
  bool are_all_linked(std::span<const std::uint32_t> rows) const;

 private:
  std::vector<std::uint32_t> node_of_;
  Ragged<std::uint32_t> rows_;
  std::vector<std::uint32_t> linked_;  // the neighbours of node 0, then those of node 1, ...
  std::vector<std::size_t> offsets_;   // into linked_
};

}  // namespace winnow::dedup
