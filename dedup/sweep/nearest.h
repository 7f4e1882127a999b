#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/sample.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// Selects the links that join components, nearest first: a minimum spanning forest (Kruskal 1956).
// Its first k links join as many rows as any k links can.
// It lets duplicate groups grow link by link to any total size, whereas one more bit of threshold
// may join half of the images at once.
//
// In      Links in any number and order.
// Ties    Links of equal distance are in an order drawn from `seed` and both ids, so that no class
//         comes first.
// Memory  24 bytes a row, and 24 bytes a gathered link: at most four million links, or twice as
//         many as rows if that is more.
class NearestLinks {
 public:
  // ids  Sample ids of the rows; borrowed.
  NearestLinks(std::span<const SampleId> ids, std::uint64_t seed);
  void add(std::span<const Edge> links);
  std::vector<Edge> finish() &&;  // nearest first

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
  std::size_t most_;                  // limit of gathered links
  std::vector<Link> links_;
};

}  // namespace winnow::dedup
