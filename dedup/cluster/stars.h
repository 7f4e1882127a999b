#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dedup/cluster/linked_nodes.h"

namespace winnow::dedup {

// Star groups: in each, one row represents others, all of which are linked to it.
struct Stars {
  // By row: its representative, or the row itself if it stays.
  std::vector<std::uint32_t> stands_for_row;
  // Each group has a representative, the rows it represents, and rows linked to it that stay,
  // unless they are in another star already.
  Components groups;
};

// Rules for removing rows: which row may be removed because a linked row stays.
struct GoingRules {
  // Whether `row` is removed if `staying`, which is linked to it, stays.
  std::function<bool(std::uint32_t row, std::uint32_t staying)> goes_beside;
  // The kind of a row, any number. Equal rows (of one node) that have one kind must remove the same
  // rows, so only the first of them is tried. Empty: all rows have one kind.
  std::function<std::uint32_t(std::uint32_t row)> kind = {};
};

// Makes star groups greedily. Visits rows in the given order. Each row that was not removed stays,
// and represents the later rows that are linked to it and removed because of it (`rules`).
// A removed row is linked to its representative. Of two rows that stay, neither would remove the
// other.
//
// order  Each row once, the one most worth keeping first. Rows that are not in it are left as they
//        are.
Stars stars_of(const LinkedNodes& nodes, std::span<const std::uint32_t> order,
               const GoingRules& rules);

}  // namespace winnow::dedup
