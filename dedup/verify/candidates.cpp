#include "dedup/verify/candidates.h"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace winnow::dedup {
namespace {

constexpr int kMostRadius = 14;
constexpr int kMostHitsOfPair = 3;

// Puts to `hits` what two landmarks are to each other, unless they are of one picture.
void take(const LandmarkTable& landmarks, const Edge& edge, bool is_mirrored,
          std::vector<Hit>& hits) {
  std::uint32_t a = edge.a;
  std::uint32_t b = edge.b;
  if (landmarks.owner(a) > landmarks.owner(b)) std::swap(a, b);
  if (landmarks.owner(a) == landmarks.owner(b)) return;
  hits.push_back({landmarks.owner(a), landmarks.owner(b), edge.distance, a, b, is_mirrored});
}

// The nearest of each pair of pictures.
std::vector<Hit> nearest_of_pairs(std::vector<Hit> hits) {
  tbb::parallel_sort(hits.begin(), hits.end());
  hits.erase(std::unique(hits.begin(), hits.end()), hits.end());
  std::size_t kept = 0;
  int of_pair = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const bool is_new =
        i == 0 || hits[i].row_a != hits[i - 1].row_a || hits[i].row_b != hits[i - 1].row_b;
    of_pair = is_new ? 0 : of_pair + 1;
    if (of_pair < kMostHitsOfPair) hits[kept++] = hits[i];
  }
  hits.resize(kept);
  return hits;
}

}  // namespace

HitRadius hit_radius(std::size_t landmarks, double most_hits) noexcept {
  constexpr double kRateAt12 = 1e-7;
  constexpr double kRateOfBit = 2.1;
  const double pairs = static_cast<double>(landmarks) * static_cast<double>(landmarks);
  for (int bits = kMostRadius;; --bits) {
    const double expected = pairs * kRateAt12 * std::pow(kRateOfBit, bits - 12);
    if (expected <= most_hits || bits == 1) return {bits, expected};
  }
}

std::vector<Hit> find_hits(const LandmarkTable& landmarks, int radius,
                           const SearchOptions& options) {
  std::vector<std::uint32_t> all(landmarks.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  std::vector<Hit> hits;
  const auto sink = [&](bool is_mirrored) {
    return [&hits, &landmarks, is_mirrored](std::span<const Edge> edges) {
      for (const Edge& edge : edges) take(landmarks, edge, is_mirrored, hits);
    };
  };
  find_edges(landmarks.codes(), all, radius, sink(false), options);
  CodeColumn seen_in_mirror = landmarks.codes();
  for (std::uint32_t i = 0; i < landmarks.size(); ++i) {
    const LandmarkCode code = mirrored(landmarks.code(i));
    std::ranges::copy(code, seen_in_mirror.words.begin() + std::ptrdiff_t{2} * i);
  }
  find_edges_between(landmarks.codes(), all, seen_in_mirror, all, radius, sink(true), options);
  return nearest_of_pairs(std::move(hits));
}

}  // namespace winnow::dedup
