#include "dedup/cluster/cut.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/error.h"

namespace winnow::dedup {
namespace {

// Components with the sets that their rows belong to. Components without a common set may be
// united.
class Apart {
 public:
  Apart(std::size_t row_count, const RowSets& sets) : rows_(row_count) {
    for (std::uint32_t set = 0; set < sets.size(); ++set) {
      for (const std::uint32_t row : sets[set]) sets_of_[row].insert(set);
    }
  }

  // Returns whether both ends are now in one component.
  bool unite(const Edge& edge) {
    const std::uint32_t a = rows_.root_of(edge.a);
    const std::uint32_t b = rows_.root_of(edge.b);
    if (a == b) return true;
    const auto of_a = sets_of_.find(a);
    const auto of_b = sets_of_.find(b);
    if (of_a != sets_of_.end() && of_b != sets_of_.end()) {
      auto* small = &of_a->second;
      auto* large = &of_b->second;
      if (small->size() > large->size()) std::swap(small, large);
      if (std::ranges::any_of(*small, [&](std::uint32_t set) { return large->contains(set); })) {
        return false;
      }
      large->merge(*small);
    }
    rows_.unite(edge);
    move_sets(a, b);
    return true;
  }
  Components components() && { return std::move(rows_).components(); }

 private:
  // Moves the sets of both to the root of their union, from the component that holds them.
  void move_sets(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t root = rows_.root_of(a);
    const std::uint32_t other = root == a ? b : a;
    auto from = sets_of_.extract(other);
    if (from.empty()) return;
    auto& to = sets_of_[root];
    if (to.size() < from.mapped().size()) std::swap(to, from.mapped());
  }

  UnionFind rows_;
  std::unordered_map<std::uint32_t, std::unordered_set<std::uint32_t>> sets_of_;  // by root
};

}  // namespace

Components components_apart(std::size_t row_count, std::span<const Edge> always,
                            std::vector<Edge> links, const RowSets& apart) {
  Apart components(row_count, apart);
  for (const Edge& edge : always) {
    if (!components.unite(edge)) {
      throw Error("rows " + std::to_string(edge.a) + " and " + std::to_string(edge.b) +
                  " are equal, but are to be kept in different groups");
    }
  }
  std::ranges::sort(links, {},
                    [](const Edge& edge) { return std::tuple(edge.distance, edge.a, edge.b); });
  for (const Edge& edge : links) components.unite(edge);
  return std::move(components).components();
}

}  // namespace winnow::dedup
