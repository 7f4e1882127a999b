#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/search/search.h"

namespace winnow::dedup {

// Collects the edges (near pairs of rows) of a search, but keeps only the `most` nearest of each
// row. An edge is kept if it is among those of at least one of its two rows; ties go to lower rows.
// n rows that are all near each other then leave n * most edges instead of n * n. The order of
// arrival does not matter.
// Memory  24 bytes a kept edge, or 48 MB if that is more. sorted() needs one byte a row. Beyond 4
//         million edges 16 bytes a row are added.
class NearestEdges {
 public:
  // most  Below 255.
  NearestEdges(std::size_t rows, std::size_t most) : rows_(rows), most_(most) {}

  void take(std::span<const Edge> edges);
  // Returns the kept edges, sorted by rows. Call it once.
  std::vector<Edge> sorted();
  // Number of edges that were not kept. Valid after sorted().
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  bool is_wanted(const Edge& edge) const noexcept;
  void prune();

  std::size_t rows_;
  std::size_t most_;
  std::size_t prune_at_ = std::size_t{1} << 22;
  std::vector<Edge> edges_;
  // For each row with `most_` edges, the furthest of them. Empty before the first pruning.
  std::vector<std::optional<Edge>> furthest_;
  std::uint64_t left_out_ = 0;
};

}  // namespace winnow::dedup
