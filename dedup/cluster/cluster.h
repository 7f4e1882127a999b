#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dedup/cluster/linked_nodes.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// What makes a group of rows that are linked. Rows that are the same are always together, but in
// stars as far as one goes beside the other.
enum class GroupKind {
  kComponents,  // linked directly or through others: nobody outside is near, members may be far
  kStars,       // all are linked to the one that stays (stars.h)
  kCliques,     // all are linked to all
};

GroupKind parse_group_kind(std::string_view name);  // components, stars, cliques; UsageError
std::string_view group_kind_name(GroupKind kind) noexcept;

// Groups that are cliques. They depend on whom one asks first, and that is always the node whose
// row comes first of those without a group: it takes the linked nodes that have none either, in
// their order and only while each is linked to all before it.
Components cliques_of(const LinkedNodes& nodes);

struct GroupShape {
  std::uint32_t diameter = 0;  // bits between the two members furthest apart
  bool chain = false;          // some members are linked through others only
};

// The exact diameter, but some bits too small at times
//   * of codes of several orientations, and of features, where more than 2000 are distinct
//   * where more than 262,144 are distinct and the diameter is less than 5/6 of the bits that vary
// Few codes are compared pair by pair; many by a parallel search (find_edges_between).
GroupShape shape_of(const CodeColumn& codes, std::span<const std::uint32_t> rows, int threshold);

}  // namespace winnow::dedup
