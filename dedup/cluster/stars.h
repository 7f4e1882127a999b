#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dedup/cluster/linked_nodes.h"

namespace winnow::dedup {

// Groups of rows in which one row represents others that are linked to it.
struct Stars {
  std::vector<std::uint32_t> stands_for_row;  // the representative of each row; itself if it stays
  // A representative, the rows it represents, and linked rows that stay beside it if no other star
  // has them.
  Components groups;
};

// Which rows are removed in favour of which.
struct GoingRules {
  // Whether `row` is removed if `staying`, a linked row, stays.
  std::function<bool(std::uint32_t row, std::uint32_t staying)> goes_beside;
  // Staying rows of one node and one kind must remove the same rows. Empty: all rows are of one
  // kind.
  std::function<std::uint32_t(std::uint32_t row)> kind = {};
};

// Visits rows in this order. Each row that is still there represents the later rows that are linked
// to it and go beside it.
// A removed row is linked to its representative, and no two rows stay of which one would remove the
// other.
//
// order  Each row once, the most wanted first. Other rows are left alone.
Stars stars_of(const LinkedNodes& nodes, std::span<const std::uint32_t> order,
               const GoingRules& rules);

}  // namespace winnow::dedup
