#include "dedup/sweep/nearest.h"

#include <algorithm>
#include <utility>

#include "common/rng.h"
#include "dedup/cluster/cluster.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kGathered = 4'000'000;

}  // namespace

NearestLinks::NearestLinks(std::span<const SampleId> ids, std::uint64_t seed)
    : most_(std::max(kGathered, 2 * ids.size())) {
  draws_.reserve(ids.size());
  for (const SampleId id : ids) {
    draws_.push_back(CounterRng(seed, 0, id, RandomUse::kStudy).next_u64());
  }
}

void NearestLinks::add(std::span<const Edge> links) {
  for (const Edge& link : links) {
    const auto [a, b] = std::minmax(link.a, link.b);
    links_.push_back({link.distance, draws_[a] ^ draws_[b], a, b});
    if (links_.size() == most_) leave_forest();
  }
}

// A link that is not in the forest of a part is not in that of the whole either.
void NearestLinks::leave_forest() {
  std::ranges::sort(links_);
  UnionFind joined(draws_.size());
  std::size_t kept = 0;
  for (const Link& link : links_) {
    if (joined.unite({link.a, link.b, link.distance})) links_[kept++] = link;
  }
  links_.resize(kept);
}

std::vector<Edge> NearestLinks::finish() && {
  leave_forest();
  std::vector<Edge> out;
  out.reserve(links_.size());
  for (const Link& link : links_) out.push_back({link.a, link.b, link.distance});
  return out;
}

}  // namespace winnow::dedup
