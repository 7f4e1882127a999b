#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dedup/cluster/linked_nodes.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// How linked rows are divided into groups. Rows of equal files or pixels are always in one group,
// except with stars, where they are only if one represents the other.
enum class GroupKind {
  // Connected components: rows linked directly or through others. No row outside a group is near
  // one inside, but members may be far apart.
  kComponents,
  kStars,    // all members are linked to the representative, which is kept (stars.h)
  kCliques,  // all members are linked to each other
};

GroupKind parse_group_kind(std::string_view name);  // components, stars, cliques; UsageError
std::string_view group_kind_name(GroupKind kind) noexcept;

// Divides linked rows into cliques (groups whose members are all linked to each other), greedily.
// Each step starts a group with the first row that has none. It goes through the linked rows
// without a group, in order, and adds each that is linked to all members so far. A node stands for
// equal rows.
Components cliques_of(const LinkedNodes& nodes);

struct GroupShape {
  std::uint32_t diameter = 0;  // largest distance in bits between two members
  bool chain = false;          // whether some members are only linked through others
};

// The largest distance within a group, and whether the group is a chain: some members are only
// linked through others. The diameter is exact, except that it may be a few bits too small
// - for codes of several orientations, and for features, with more than 2000 distinct codes
// - with more than 262,144 distinct codes, if the diameter is less than 5/6 of the varying bits
// Few codes are compared pair by pair, many by a parallel search (find_edges_between).
GroupShape shape_of(const CodeColumn& codes, std::span<const std::uint32_t> rows, int threshold);

}  // namespace winnow::dedup
