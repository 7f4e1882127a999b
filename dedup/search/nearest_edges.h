#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/search/search.h"

namespace winnow::dedup {

// Collects edges from a search and keeps those among the `most` nearest of at least one end; ties
// go to lower rows. A crowd of n mutually near rows then leaves n * most edges instead of n * n.
// The order of arrival does not matter.
// Memory  24 bytes a kept edge, or 48 MB; in sorted() one byte a row; beyond 4 million edges 16
//         bytes a row.
class NearestEdges {
 public:
  // most  Below 255.
  NearestEdges(std::size_t rows, std::size_t most) : rows_(rows), most_(most) {}

  void take(std::span<const Edge> edges);
  // The kept edges, sorted by rows. Call it once.
  std::vector<Edge> sorted();
  // Number of edges that were discarded. Valid after sorted().
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  bool is_wanted(const Edge& edge) const noexcept;
  void prune();

  std::size_t rows_;
  std::size_t most_;
  std::size_t prune_at_ = std::size_t{1} << 22;
  std::vector<Edge> edges_;
  // For each row with as many edges as allowed, the furthest; empty before the first pruning.
  std::vector<std::optional<Edge>> furthest_;
  std::uint64_t left_out_ = 0;
};

}  // namespace winnow::dedup
