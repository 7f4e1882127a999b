#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/search/search.h"

namespace winnow::dedup {

// Takes edges as a search finds them, and keeps those that are among the `most` nearest of one of
// their ends; of equally near ones those with lower rows. So a crowd of n rows that are all near
// each other leaves n * most edges, not n * n. The order in which edges come does not matter.
// Memory: 24 bytes an edge that is kept, or 48 MB; at the end a byte a row; with more than 4
// million edges 16 bytes a row.
class NearestEdges {
 public:
  // `most`: below 255.
  NearestEdges(std::size_t rows, std::size_t most) : rows_(rows), most_(most) {}

  void take(std::span<const Edge> edges);
  // Once: by rows.
  std::vector<Edge> sorted();
  // After that: how many edges there were beside those.
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  bool is_wanted(const Edge& edge) const noexcept;
  void prune();

  std::size_t rows_;
  std::size_t most_;
  std::size_t prune_at_ = std::size_t{1} << 22;
  std::vector<Edge> edges_;
  // By row, where it has as many as it may, the last; empty before the first time that edges go.
  std::vector<std::optional<Edge>> furthest_;
  std::uint64_t left_out_ = 0;
};

}  // namespace winnow::dedup
