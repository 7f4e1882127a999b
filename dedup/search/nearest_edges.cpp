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
      prune();
      prune_at_ = std::max(prune_at_, 2 * edges_.size());
    }
  }
}

void NearestEdges::prune() {
  tbb::parallel_sort(edges_.begin(), edges_.end(), is_nearer);
  std::vector<std::size_t> counts(furthest_.size());
  std::size_t kept = 0;
  for (const Edge& edge : edges_) {
    const std::size_t of_a = ++counts[edge.a];
    const std::size_t of_b = ++counts[edge.b];
    if (of_a == most_) furthest_[edge.a] = edge;
    if (of_b == most_) furthest_[edge.b] = edge;
    if (of_a <= most_ || of_b <= most_) edges_[kept++] = edge;
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
