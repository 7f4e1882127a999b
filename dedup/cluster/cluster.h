#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dedup/search/search.h"

namespace winnow::dedup {

// Which rows hang together, directly or through others.
struct Components {
  std::vector<std::uint32_t> of_row;  // numbers from 0, in the order of their first rows
  std::uint32_t count = 0;
};

// Union-find (Tarjan 1975, with path halving) over rows that are alone at first. The order in which
// they are united is irrelevant.
class UnionFind {
 public:
  explicit UnionFind(std::size_t row_count);
  void unite(std::span<const Edge> edges);
  // The same of one; whether it brought together what was not.
  bool unite(const Edge& edge);
  // The first row of what it is in.
  std::uint32_t root_of(std::uint32_t row) noexcept;
  Components components() &&;

 private:
  std::vector<std::uint32_t> parent_;
};

// Connected components of `row_count` rows under the edges. A row without an edge is a component of
// its own.
Components connected_components(std::size_t row_count, std::span<const Edge> edges);

// What makes a group of rows, linked at a threshold. Rows that are the same are always together.
enum class GroupKind {
  kComponents,  // linked directly or through others: nobody outside is near, members may be far
  kStars,       // all are linked to the group's first row: members are within twice the threshold
  kCliques,     // all are linked to all: members are within the threshold
};

GroupKind parse_group_kind(std::string_view name);  // components, stars, cliques; UsageError
std::string_view group_kind_name(GroupKind kind) noexcept;

// Groups that are stars or cliques. They depend on whom one asks first, and that is always the row
// that comes first of those without a group: it takes its neighbours that have none either, for a
// clique in their order and only while each is linked to all before it. `same`: rows that are the
// same, any of which stands for all in `edges`, which come in any order; memory for both ends of
// each.
Components group_rows(Components same, std::span<const Edge> edges, GroupKind kind);

struct GroupShape {
  std::uint32_t diameter = 0;  // bits between the two members furthest apart
  bool chain = false;  // that is more than the threshold: some are linked through others only
};

// The exact diameter, but some bits too small at times
//   * of codes of several orientations, and of features, where more than 2000 are distinct
//   * where more than 262,144 are distinct and the diameter is less than 5/6 of the bits that vary
// Few codes are compared pair by pair; many by a parallel search (find_edges_between).
GroupShape shape_of(const CodeColumn& codes, std::span<const std::uint32_t> rows, int threshold);

// The rows of every component, each ascending, in the order of their numbers.
Ragged<std::uint32_t> rows_by_component(const Components& components);

// The components of two or more rows, each ascending, in the order of their numbers.
std::vector<std::vector<std::uint32_t>> members_of_groups(const Components& components);

}  // namespace winnow::dedup
