#include "dedup/cluster/components.h"

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
  for (const Edge& edge : edges) unite(edge);
}

bool UnionFind::unite(const Edge& edge) {
  // The smaller row becomes the root, so that a root is the first row of its component.
  const std::uint32_t a = root_of(edge.a);
  const std::uint32_t b = root_of(edge.b);
  if (a < b) parent_[b] = a;
  if (b < a) parent_[a] = b;
  return a != b;
}

Components UnionFind::components() && {
  Components out;
  // A root comes before its rows, whose entries are overwritten with component numbers.
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

Ragged<std::uint32_t> rows_by_component(const Components& components) {
  Ragged<std::uint32_t> out;
  out.offsets.assign(components.count + std::size_t{1}, 0);
  for (const std::uint32_t number : components.of_row) ++out.offsets[number + std::size_t{1}];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.values.resize(components.of_row.size());
  std::vector<std::uint32_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::uint32_t row = 0; row < components.of_row.size(); ++row) {
    out.values[next[components.of_row[row]]++] = row;
  }
  return out;
}

std::vector<std::vector<std::uint32_t>> members_of_groups(const Components& components) {
  const Ragged<std::uint32_t> rows = rows_by_component(components);
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const auto members = rows[number];
    if (members.size() >= 2) groups.emplace_back(members.begin(), members.end());
  }
  return groups;
}

}  // namespace winnow::dedup
