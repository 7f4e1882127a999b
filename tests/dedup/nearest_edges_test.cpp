#include "dedup/search/nearest_edges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "common/rng.h"

namespace winnow::dedup::nearest_edges_test {

std::vector<Edge> random_edges(std::uint64_t seed, std::uint32_t rows, std::size_t count) {
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> edges;
  while (edges.size() < count) {
    const std::uint32_t a = rng.below(rows);
    const std::uint32_t b = rng.below(rows);
    if (a < b) edges.emplace(std::pair(a, b), rng.below(6));
  }
  std::vector<Edge> out;
  for (const auto& [ends, distance] : edges) out.push_back({ends.first, ends.second, distance});
  return out;
}

// Definition: edges that are among the nearest of either end.
std::vector<Edge> nearest_of(std::vector<Edge> edges, std::size_t most) {
  std::ranges::sort(edges, {}, [](const Edge& e) { return std::tuple(e.distance, e.a, e.b); });
  std::map<std::uint32_t, std::size_t> counts;
  std::vector<Edge> kept;
  for (const Edge& edge : edges) {
    const bool of_a = ++counts[edge.a] <= most;
    const bool of_b = ++counts[edge.b] <= most;
    if (of_a || of_b) kept.push_back(edge);
  }
  std::ranges::sort(kept);
  return kept;
}

TEST(NearestEdges, AreThoseOfOneEndInWhateverOrderTheyCome) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Edge> edges = random_edges(seed, 40, 300);
    for (const std::size_t most : {1, 3, 8, 100}) {
      const std::vector<Edge> expected = nearest_of(edges, most);
      for (int order = 0; order < 3; ++order) {
        std::shuffle(edges.begin(), edges.end(), std::minstd_rand(static_cast<unsigned>(order)));
        NearestEdges nearest(40, most);
        for (std::size_t i = 0; i < edges.size(); i += 7) {
          nearest.take(std::span(edges).subspan(i, std::min<std::size_t>(7, edges.size() - i)));
        }
        EXPECT_EQ(nearest.sorted(), expected);
        EXPECT_EQ(nearest.left_out(), edges.size() - expected.size());
      }
    }
  }
}

// Only a few of ten million edges are kept at any time.
TEST(NearestEdges, KeepFewOfACrowd) {
  constexpr std::uint32_t kRows = 4500;
  constexpr std::size_t kMost = 4;
  NearestEdges nearest(kRows, kMost);
  std::vector<Edge> some;
  std::uint64_t all = 0;
  for (std::uint32_t a = 0; a < kRows; ++a) {
    some.clear();
    for (std::uint32_t b = a + 1; b < kRows; ++b) some.push_back({a, b, (a * 31 + b * 17) % 11});
    all += some.size();
    nearest.take(some);
  }
  const std::vector<Edge> kept = nearest.sorted();
  EXPECT_LE(kept.size(), kRows * kMost);
  EXPECT_GE(2 * kept.size(), kRows * kMost);
  EXPECT_EQ(kept.size() + nearest.left_out(), all);
}

}  // namespace winnow::dedup::nearest_edges_test
