#include "dedup/cluster/linked_nodes.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace winnow::dedup {
LinkedNodes::LinkedNodes(const Components& same, std::span<const Edge> edges)
    : node_of_(same.of_row), rows_(rows_by_component(same)), offsets_(same.count + std::size_t{1}) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  links.reserve(2 * edges.size());
  for (const Edge& edge : edges) {
    const std::uint32_t a = node_of_[edge.a];
    const std::uint32_t b = node_of_[edge.b];
    if (a == b) continue;
    links.emplace_back(a, b);
    links.emplace_back(b, a);
  }
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  linked_.reserve(links.size());
  for (const auto& [from, to] : links) {
    linked_.push_back(to);
    ++offsets_[from + std::size_t{1}];
  }
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
}

bool LinkedNodes::are_all_linked(std::span<const std::uint32_t> rows) const {
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t row : rows) nodes.push_back(node_of_[row]);
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return std::ranges::all_of(nodes, [&](std::uint32_t node) {
    const std::span<const std::uint32_t> linked = linked_to(node);
    auto next = linked.begin();
    return std::ranges::all_of(nodes, [&](std::uint32_t other) {
      while (next != linked.end() && *next < other) ++next;
      return other == node || (next != linked.end() && *next == other);
    });
  });
}

}  // namespace winnow::dedup
