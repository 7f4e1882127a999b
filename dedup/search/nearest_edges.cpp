#include "dedup/search/nearest_edges.h"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace winnow::dedup {
namespace {

bool is_nearer(const Edge& x, const Edge& y) noexcept {
  return std::tie(x.distance, x.a, x.b) < std::tie(y.distance, y.a, y.b);
}

}  // namespace

bool NearestEdges::is_wanted(const Edge& edge) const noexcept {
  if (furthest_.empty()) return true;
  const auto wants = [&](std::uint32_t row) {
    return !furthest_[row] || is_nearer(edge, *furthest_[row]);
  };
  return wants(edge.a) || wants(edge.b);
}

void NearestEdges::take(std::span<const Edge> edges) {
  for (const Edge& edge : edges) {
    if (!is_wanted(edge)) {
      ++left_out_;
      continue;
    }
    edges_.push_back(edge);
    if (edges_.size() >= prune_at_) {
      furthest_.resize(rows_);
      prune();
      prune_at_ = std::max(prune_at_, 2 * edges_.size());
    }
  }
}

void NearestEdges::prune() {
  tbb::parallel_sort(edges_.begin(), edges_.end(), is_nearer);
  std::vector<std::uint8_t> counts(rows_);  // up to one more than most_
  // Whether an edge is among the nearest of a row.
  const auto is_of = [&](std::uint32_t row, const Edge& edge) {
    if (counts[row] > most_) return false;
    if (++counts[row] == most_ && !furthest_.empty()) furthest_[row] = edge;
    return counts[row] <= most_;
  };
  std::size_t kept = 0;
  for (const Edge& edge : edges_) {
    const bool of_a = is_of(edge.a, edge);
    const bool of_b = is_of(edge.b, edge);
    if (of_a || of_b) edges_[kept++] = edge;
  }
  left_out_ += edges_.size() - kept;
  edges_.resize(kept);
}

std::vector<Edge> NearestEdges::sorted() {
  prune();
  tbb::parallel_sort(edges_.begin(), edges_.end());
  return std::move(edges_);
}

}  // namespace winnow::dedup
