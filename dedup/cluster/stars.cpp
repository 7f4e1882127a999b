#include "dedup/cluster/stars.h"

#include <numeric>
#include <set>
#include <utility>

namespace winnow::dedup {
namespace {

class StarSearch {
 public:
  StarSearch(const LinkedNodes& nodes, std::span<const std::uint32_t> order,
             const GoingRules& rules)
      : nodes_(nodes),
        rules_(rules),
        is_ahead_(nodes.of_rows().size()),
        has_group_(is_ahead_.size()),
        stands_for_(is_ahead_.size()),
        groups_(is_ahead_.size()) {
    std::iota(stands_for_.begin(), stands_for_.end(), std::uint32_t{0});
    for (const std::uint32_t row : order) is_ahead_[row] = true;
    for (const std::uint32_t row : order) {
      is_ahead_[row] = false;
      if (stands_for_[row] == row && is_first_of_kind(row)) take_linked(row);
    }
  }

  Stars stars() && { return {std::move(stands_for_), std::move(groups_).components()}; }

 private:
  bool is_first_of_kind(std::uint32_t row) {
    const std::uint32_t kind = rules_.kind ? rules_.kind(row) : 0;
    return kinds_.emplace(nodes_.node_of(row), kind).second;
  }

  void take_linked(std::uint32_t row) {
    const std::uint32_t node = nodes_.node_of(row);
    take(row, node);
    for (const std::uint32_t other : nodes_.linked_to(node)) take(row, other);
  }

  void take(std::uint32_t staying, std::uint32_t node) {
    for (const std::uint32_t row : nodes_.rows_of(node)) {
      if (!is_ahead_[row] || stands_for_[row] != row) continue;
      const bool goes = rules_.goes_beside(row, staying);
      if (goes) stands_for_[row] = staying;
      if (!goes && has_group_[row]) continue;
      groups_.unite(Edge{staying, row, 0});
      has_group_[row] = has_group_[staying] = true;
    }
  }

  const LinkedNodes& nodes_;
  const GoingRules& rules_;
  std::vector<bool> is_ahead_;  // not yet visited
  std::vector<bool> has_group_;
  std::vector<std::uint32_t> stands_for_;
  UnionFind groups_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> kinds_;  // for each node, already visited
};

}  // namespace

Stars stars_of(const LinkedNodes& nodes, std::span<const std::uint32_t> order,
               const GoingRules& rules) {
  return StarSearch(nodes, order, rules).stars();
}

}  // namespace winnow::dedup
