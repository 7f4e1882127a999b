#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dedup/cluster/components.h"
#include "dedup/fingerprints.h"

namespace winnow::dedup {

// Rows and what links them. Rows that are the same are one node, and linked as any of them is.
// Nodes are numbered in the order of their first rows.
class LinkedNodes {
 public:
  LinkedNodes() = default;
  // edges  between rows, in any order, also more than once
  // Memory  two numbers an edge, and two a row
  LinkedNodes(const Components& same, std::span<const Edge> edges);

  std::size_t size() const noexcept { return rows_.size(); }
  std::uint32_t node_of(std::uint32_t row) const noexcept { return node_of_[row]; }
  const std::vector<std::uint32_t>& of_rows() const noexcept { return node_of_; }
  // Ascending.
  std::span<const std::uint32_t> rows_of(std::uint32_t node) const { return rows_[node]; }
  // Other nodes, ascending, each once.
  std::span<const std::uint32_t> linked_to(std::uint32_t node) const noexcept {
    return std::span(linked_).subspan(offsets_[node], offsets_[node + 1] - offsets_[node]);
  }
  // Whether each of these rows is linked to each other one.
  bool are_all_linked(std::span<const std::uint32_t> rows) const;

 private:
  std::vector<std::uint32_t> node_of_;
  Ragged<std::uint32_t> rows_;
  std::vector<std::uint32_t> linked_;  // to each node in turn
  std::vector<std::size_t> offsets_;   // of these
};

}  // namespace winnow::dedup
