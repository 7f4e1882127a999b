#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/sample.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// Of any number of links, in any order, those that join what is not joined by nearer ones: the
// minimum spanning forest (Kruskal 1956), whose first k links join as much as any k can, the
// nearest first. So groups grow link by link to any size of all that are thinned together, where
// one bit more of a threshold may join half of the images at once.
//
// Equals  Come in the order of a draw of `seed` and the ids of both, so that no class is first.
// Memory  24 bytes a row, and 24 bytes a link that is gathered: at most four million, or twice as
//         many as there are rows.
class NearestLinks {
 public:
  // `ids`: of the rows; borrowed.
  NearestLinks(std::span<const SampleId> ids, std::uint64_t seed);
  void add(std::span<const Edge> links);
  std::vector<Edge> finish() &&;  // the nearest first

 private:
  struct Link {
    std::uint32_t distance;
    std::uint64_t draw;
    std::uint32_t a;
    std::uint32_t b;
    friend auto operator<=>(const Link &, const Link &) = default;
  };
  void leave_forest();

  std::vector<std::uint64_t> draws_;  // by row
  std::size_t most_;                  // links at once
  std::vector<Link> links_;
};

}  // namespace winnow::dedup
