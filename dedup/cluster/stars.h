#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dedup/cluster/linked_nodes.h"

namespace winnow::dedup {

// Rows that stand for others which they are linked to.
struct Stars {
  std::vector<std::uint32_t> stands_for_row;  // by row; itself where it stays
  // A row that stays, those that it stands for, and linked ones that stay beside it, if no other
  // stars have them.
  Components groups;
};

// Who goes beside whom.
struct GoingRules {
  // Whether `row` goes where `staying`, which it is linked to, stays.
  std::function<bool(std::uint32_t row, std::uint32_t staying)> goes_beside;
  // Of two staying rows of one node and kind the same others go. Nothing: all are of one kind.
  std::function<std::uint32_t(std::uint32_t row)> kind = {};
};

// Goes through rows in this order, and lets each that is still there stand for those after it that
// it is linked to and that go beside it. So what goes is linked to what stands for it, and nothing
// that stays goes beside another that stays.
//
// order  each row once, the most wanted first; rows that are not in it are left alone
Stars stars_of(const LinkedNodes& nodes, std::span<const std::uint32_t> order,
               const GoingRules& rules);

}  // namespace winnow::dedup
