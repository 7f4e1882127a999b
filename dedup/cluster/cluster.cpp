#include "dedup/cluster/cluster.h"

#include <numeric>
#include <utility>

namespace winnow::dedup {

UnionFind::UnionFind(std::size_t row_count) : parent_(row_count) {
  std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
}

std::uint32_t UnionFind::root_of(std::uint32_t row) noexcept {
  while (parent_[row] != row) row = parent_[row] = parent_[parent_[row]];
  return row;
}

void UnionFind::unite(std::span<const Edge> edges) {
  // The smaller row becomes the root, so a root is the first row of its component.
  for (const Edge& edge : edges) {
    const std::uint32_t a = root_of(edge.a);
    const std::uint32_t b = root_of(edge.b);
    if (a < b) parent_[b] = a;
    if (b < a) parent_[a] = b;
  }
}

Components UnionFind::components() && {
  Components out;
  // A root comes before the rows below it, whose numbers are overwritten by their component's.
  for (std::uint32_t row = 0; row < parent_.size(); ++row) {
    parent_[row] = parent_[row] == row ? out.count++ : parent_[parent_[row]];
  }
  out.of_row = std::move(parent_);
  return out;
}

Components connected_components(std::size_t row_count, std::span<const Edge> edges) {
  UnionFind rows(row_count);
  rows.unite(edges);
  return std::move(rows).components();
}

std::vector<std::vector<std::uint32_t>> members_of_groups(const Components& components) {
  std::vector<std::uint32_t> sizes(components.count);
  for (const std::uint32_t component : components.of_row) ++sizes[component];
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::uint32_t> group_of(components.count);
  for (std::uint32_t component = 0; component < components.count; ++component) {
    if (sizes[component] < 2) continue;
    group_of[component] = static_cast<std::uint32_t>(groups.size());
    groups.emplace_back().reserve(sizes[component]);
  }
  for (std::uint32_t row = 0; row < components.of_row.size(); ++row) {
    const std::uint32_t component = components.of_row[row];
    if (sizes[component] >= 2) groups[group_of[component]].push_back(row);
  }
  return groups;
}

}  // namespace winnow::dedup
