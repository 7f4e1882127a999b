#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dedup/cluster/linked_nodes.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// How linked rows are grouped. Equal rows are always together, except in stars, where only as far
// as one represents the other.
enum class GroupKind {
  // Linked directly or through others: nothing outside is near, but members may be far apart.
  kComponents,
  kStars,    // all linked to the one that stays (stars.h)
  kCliques,  // all linked to each other
};

GroupKind parse_group_kind(std::string_view name);  // components, stars, cliques; UsageError
std::string_view group_kind_name(GroupKind kind) noexcept;

// Groups that are cliques, chosen greedily.
// Each step starts a group at the first row without a group. It adds the linked nodes without a
// group, in order, if each is linked to all before it.
Components cliques_of(const LinkedNodes& nodes);

struct GroupShape {
  std::uint32_t diameter = 0;  // bits between the two members that are furthest apart
  bool chain = false;          // some members are only linked through others
};

// The shape of a group. The diameter is exact, except that it may be a few bits too small
// - for codes of several orientations, and for features, with more than 2000 distinct codes
// - with more than 262,144 distinct codes, if the diameter is less than 5/6 of the varying bits
// Few codes are compared pair by pair; many by a parallel search (find_edges_between).
GroupShape shape_of(const CodeColumn& codes, std::span<const std::uint32_t> rows, int threshold);

}  // namespace winnow::dedup
