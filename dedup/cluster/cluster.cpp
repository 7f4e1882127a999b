#include "dedup/cluster/cluster.h"

#include <numeric>

namespace winnow::dedup {

Components connected_components(std::size_t row_count, std::span<const Edge> edges) {
  std::vector<std::uint32_t> parent(row_count);
  std::iota(parent.begin(), parent.end(), std::uint32_t{0});
  const auto root_of = [&](std::uint32_t row) {
    while (parent[row] != row) row = parent[row] = parent[parent[row]];
    return row;
  };
  // The smaller row becomes the root, so a root is the first row of its component.
  for (const Edge& edge : edges) {
    const std::uint32_t a = root_of(edge.a);
    const std::uint32_t b = root_of(edge.b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
  }
  Components out;
  out.of_row.resize(row_count);
  for (std::uint32_t row = 0; row < row_count; ++row) {
    const std::uint32_t root = root_of(row);
    out.of_row[row] = root == row ? out.count++ : out.of_row[root];
  }
  return out;
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
