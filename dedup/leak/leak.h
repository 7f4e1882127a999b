#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/sample.h"
#include "dedup/cluster/cluster.h"

namespace winnow::dedup {

// How many duplicates two of the splits train, val and test share. `a` comes before `b` in this
// order.
struct LeakCount {
  Split a;
  Split b;
  std::uint64_t groups = 0;  // number of duplicate groups with members in both splits
  // Number of samples in split `b` that have a duplicate in split `a`.
  std::uint64_t samples_in_b = 0;
  friend bool operator==(const LeakCount&, const LeakCount&) = default;
};

// Counts leaks: duplicates in different splits. One entry each for (train, val), (train, test) and
// (val, test), in this order; pairs of splits that share no component are left out.
// Exact: pictures linked through any chain of copies count. Samples without a split never leak.
std::vector<LeakCount> count_leaks(const Components& components, std::span<const Split> splits);

// Whether these rows, members of one group, lie in two or more of train, val and test.
bool is_leak(std::span<const Split> splits, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
