#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/sample.h"
#include "dedup/cluster/cluster.h"

namespace winnow::dedup {

// How many pictures two splits share. a comes before b in train, val, test.
struct LeakCount {
  Split a;
  Split b;
  std::uint64_t groups = 0;        // groups with members in both
  std::uint64_t samples_in_b = 0;  // members of those groups that are in b
  friend bool operator==(const LeakCount&, const LeakCount&) = default;
};

// One count for each of (train, val), (train, test), (val, test) that share at least one component,
// in this order.
// Exact: pictures linked through any chain of copies count. Samples without a split never leak.
std::vector<LeakCount> count_leaks(const Components& components, std::span<const Split> splits);

// Whether the rows lie in two or more of train, val, test.
bool is_leak(std::span<const Split> splits, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
