#include "dedup/review/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "common/bytes.h"
#include "common/checksum.h"
#include "dedup/policy/policy.h"

namespace winnow::dedup {
namespace {

// A pair with its place in the random order in which pairs are drawn.
struct Ticket {
  std::uint64_t place;
  Edge pair;

  friend auto operator<=>(const Ticket&, const Ticket&) = default;
};

std::uint64_t place_of(const Fingerprints& table, const Edge& pair, std::uint64_t seed) {
  const auto [first, second] = std::minmax(table.ids[pair.a], table.ids[pair.b]);
  const std::array<std::uint64_t, 3> key{seed, first, second};
  return xxh3_64(std::as_bytes(std::span(key)));
}

std::string classes_of(const Fingerprints& table, const Edge& pair) {
  if (table.labels[pair.a].empty() || table.labels[pair.b].empty()) return "unknown";
  const std::array<std::uint32_t, 2> rows{pair.a, pair.b};
  return labels_differ(table.labels, rows) ? "other" : "same";
}

using Drawn = std::array<Hash128, 2>;

// The pairs of a stratum: their number, and those with the first `most` places.
class Urn {
 public:
  void add(const Ticket& ticket, std::uint64_t most) {
    ++pairs_;
    if (most == 0) return;
    if (first_.size() == most) {
      if (!(ticket < first_.front())) return;
      std::ranges::pop_heap(first_);
      first_.back() = ticket;
    } else {
      first_.push_back(ticket);
    }
    std::ranges::push_heap(first_);
  }

  std::uint64_t pairs() const noexcept { return pairs_; }
  std::vector<Drawn> draw(std::uint64_t count, const std::vector<Hash128>& file_hashes) && {
    std::ranges::sort_heap(first_);
    std::vector<Drawn> drawn;
    for (std::size_t i = 0; i < std::min<std::uint64_t>(count, first_.size()); ++i) {
      const Edge& pair = first_[i].pair;
      const auto [least, most] = std::minmax(file_hashes[pair.a], file_hashes[pair.b]);
      drawn.push_back({least, most});
    }
    return drawn;
  }

 private:
  std::uint64_t pairs_ = 0;
  std::vector<Ticket> first_;  // a heap, the last place on top
};

// Expected standard deviation of "the pair is false". Hardly any pair of equal codes is; at the
// threshold, and between different classes, half are.
double spread_of(int distance, const std::string& classes, int threshold) {
  const double nearness = (distance + 0.5) / (threshold + 0.5);
  const double is_false = classes == "other" ? 0.5 : 0.5 * std::min(1.0, nearness * nearness);
  return std::sqrt(is_false * (1 - is_false));
}

}  // namespace

std::vector<std::uint64_t> allocate(const std::vector<std::uint64_t>& sizes,
                                    const std::vector<double>& spreads, std::uint64_t count) {
  std::vector<double> weights(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    weights[i] = static_cast<double>(sizes[i]) * std::max(spreads[i], 1e-6);
  }
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return weights[i]; });

  count = std::min(count, std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}));
  std::vector<std::uint64_t> shares(sizes.size(), 0);
  for (const std::size_t i : order) {
    if (count > 0 && sizes[i] > 0) {
      shares[i] = 1;
      --count;
    }
  }
  // Webster's method: the next pair goes to the stratum that is furthest below its share.
  using Claim = std::pair<double, std::size_t>;  // greatest first; ties go to the later stratum
  const auto claim = [&](std::size_t i) {
    return Claim{weights[i] / (static_cast<double>(shares[i]) + 0.5), i};
  };
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (shares[i] < sizes[i]) claims.push_back(claim(i));
  }
  std::ranges::make_heap(claims);
  for (; count > 0; --count) {
    std::ranges::pop_heap(claims);
    const std::size_t i = claims.back().second;
    claims.pop_back();
    if (++shares[i] == sizes[i]) continue;
    claims.push_back(claim(i));
    std::ranges::push_heap(claims);
  }
  return shares;
}

PairSample draw_pairs(const Fingerprints& table, const PairSource& pairs,
                      const SampleOptions& options) {
  PairSample sample{.hash = options.hash,
                    .threshold = options.threshold,
                    .scope = options.scope,
                    .seed = options.seed,
                    .least_quality = options.least_quality};
  std::map<std::tuple<int, std::string, std::string>, Urn> urns;
  pairs([&](const Edge& pair) {
    if (table.file_hashes[pair.a] == table.file_hashes[pair.b]) {
      ++sample.certain;
      return;
    }
    const char* splits = table.splits[pair.a] == table.splits[pair.b] ? "same" : "other";
    urns[{static_cast<int>(pair.distance), classes_of(table, pair), splits}].add(
        {place_of(table, pair, options.seed), pair}, options.count);
  });
  std::vector<std::uint64_t> sizes;
  std::vector<double> spreads;
  for (const auto& [key, urn] : urns) {
    sizes.push_back(urn.pairs());
    spreads.push_back(spread_of(std::get<0>(key), std::get<1>(key), options.threshold));
  }
  const std::vector<std::uint64_t> shares = allocate(sizes, spreads, options.count);
  std::size_t i = 0;
  for (auto& [key, urn] : urns) {
    const auto& [distance, classes, splits] = key;
    sample.strata.push_back({.distance = distance,
                             .classes = classes,
                             .splits = splits,
                             .pairs = urn.pairs(),
                             .drawn = std::move(urn).draw(shares[i++], table.file_hashes)});
  }
  return sample;
}

}  // namespace winnow::dedup
