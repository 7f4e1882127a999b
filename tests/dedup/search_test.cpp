// The join finds what the scan finds, on every kind of code that we could think of.

#include "dedup/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "dedup/search/plan.h"
#include "dedup/search/scan.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::search_test {

using Generator = std::function<std::uint64_t(CounterRng&, std::size_t row, std::size_t word)>;

CodeColumn column_of(std::size_t rows, int bits, std::uint64_t seed, const Generator& word_of) {
  CounterRng rng = test_rng(seed);
  CodeColumn column{"test", 1, bits, {}};
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t w = 0; w < column.words_per_code(); ++w) {
      column.words.push_back(word_of(rng, row, w));
    }
  }
  return column;
}

// Named sets of codes. Some have so many close pairs that they must be small.
struct Kind {
  const char* name;
  std::size_t rows;
  Generator word;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kAll{
      {"uniform", 1500, [](CounterRng& rng, std::size_t, std::size_t) { return rng.next_u64(); }},
      {"clustered", 900,
       [](CounterRng& rng, std::size_t row, std::size_t word) {
         const std::uint64_t centre = CounterRng(row % 60, 1, word, RandomUse::kTest).next_u64();
         return centre ^ random_flips(rng, static_cast<int>(rng.below(5)));
       }},
      {"constant", 200, [](CounterRng&, std::size_t, std::size_t) { return std::uint64_t{7}; }},
      {"low entropy", 400,  // only ten bits vary
       [](CounterRng& rng, std::size_t, std::size_t) {
         return rng.next_u64() & 0x8000400020018013;
       }},
      {"rare ones", 400,
       [](CounterRng& rng, std::size_t, std::size_t) {
         return rng.next_u64() & rng.next_u64() & rng.next_u64() & rng.next_u64() & rng.next_u64();
       }},
      {"runs", 400,  // as in gradients: each bit repeats its neighbour
       [](CounterRng& rng, std::size_t, std::size_t) {
         return (~std::uint64_t{0} << rng.below(64)) ^ random_flips(rng, 2);
       }},
      {"one heap among others", 900,
       [](CounterRng& rng, std::size_t row, std::size_t) {
         return row % 4 == 0 ? random_flips(rng, 6) : rng.next_u64();
       }},
      {"numbers", 500,  // neighbours differ in few bits, all of them low
       [](CounterRng&, std::size_t row, std::size_t) { return std::uint64_t{row}; }},
      {"halves", 500,  // one half of each word decides
       [](CounterRng& rng, std::size_t, std::size_t) { return rng.next_u64() & 0xFFFFFFFF; }},
  };
  return kAll;
}

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  return rows;
}

std::vector<Edge> edges_on(std::size_t threads, const CodeColumn& codes,
                           const std::vector<std::uint32_t>& rows, int radius,
                           const SearchOptions& options) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  return edges_within(codes, rows, radius, options);
}

const SearchOptions kScan{SearchMethod::kScan, {}};
const SearchOptions kJoin{SearchMethod::kJoin, {}};

class Search : public testing::TestWithParam<int> {};

TEST_P(Search, ByJoinIsThatByScan) {
  const int bits = GetParam();
  CounterRng rng = test_rng(static_cast<std::uint64_t>(bits));
  std::size_t most = 0;
  for (const Kind& kind : kinds()) {
    const CodeColumn codes = column_of(kind.rows, bits, 3, kind.word);
    std::vector<std::uint32_t> rows = all_rows(kind.rows);
    for (const std::uint32_t below : {2U, 5U, 12U, 18U}) {
      const int radius = static_cast<int>(rng.below(below));
      SCOPED_TRACE(std::string(kind.name) + " within " + std::to_string(radius));
      const auto want = edges_on(1, codes, rows, radius, kScan);
      most = std::max(most, want.size());
      ASSERT_EQ(edges_on(1, codes, rows, radius, kJoin), want);
      ASSERT_EQ(edges_on(4, codes, rows, radius, kJoin), want);
      for (std::size_t i = rows.size(); i > 1; --i) {
        std::swap(rows[i - 1], rows[rng.below(static_cast<std::uint32_t>(i))]);
      }
      ASSERT_EQ(edges_on(4, codes, rows, radius, kJoin), want) << "in another order";
      ASSERT_EQ(edges_within(codes, rows, radius), want) << "as the plan has it";
    }
  }
  EXPECT_GT(most, 10000U) << "the codes hold too few neighbours";
}

INSTANTIATE_TEST_SUITE_P(Bits, Search, testing::Values(64, 128, 256));

// Large enough that the plan joins, partitions in chunks and splits buckets by new bands.
TEST(Search, OfManyFindsWhatWasPlantedOnAnyNumberOfThreads) {
  constexpr std::uint32_t kRows = 300'000;
  const Kind* heap = &kinds()[0];
  CodeColumn codes = column_of(kRows, 64, 9, heap->word);
  CounterRng rng = test_rng(10);
  std::vector<Edge> planted;
  for (std::uint32_t a = 0; a < kRows / 2; a += 50) {
    const int distance = 1 + static_cast<int>(rng.below(6));
    codes.words[a + kRows / 2] = codes.words[a] ^ random_flips(rng, distance);
    planted.push_back({a, a + kRows / 2, static_cast<std::uint32_t>(distance)});
  }
  for (const std::size_t threads : {1U, 2U, 5U}) {
    EXPECT_EQ(edges_on(threads, codes, all_rows(kRows), 6, {}), planted);
  }
}

TEST(Search, OfSkewedCodesInBulkFindsWhatTheScanFinds) {
  constexpr std::size_t kRows = 15'000;
  // A third of all codes agree in all but 24 bits, and these rarely differ.
  const CodeColumn codes =
      column_of(kRows, 64, 4, [](CounterRng& rng, std::size_t row, std::size_t) {
        const std::uint64_t word = rng.next_u64();
        return row % 3 == 0 ? word & rng.next_u64() & 0x0003C0F00F03C0F0 : word;
      });
  for (const int radius : {2, 5}) {
    const auto want = edges_on(2, codes, all_rows(kRows), radius, kScan);
    EXPECT_GT(want.size(), 1000U);
    EXPECT_EQ(edges_on(2, codes, all_rows(kRows), radius, {}), want);
    EXPECT_EQ(edges_on(3, codes, all_rows(kRows), radius, kJoin), want);
  }
}

TEST(Search, GivesTheSameByEveryKernel) {
  const CodeColumn codes = column_of(500, 256, 5, kinds()[1].word);
  const auto want = edges_within(codes, all_rows(500), 20, kScan);
  for (const ScanKernel& kernel : scan_kernels()) {
    if (!kernel.runs_here()) continue;
    for (const SearchMethod method : {SearchMethod::kScan, SearchMethod::kJoin}) {
      EXPECT_EQ(edges_within(codes, all_rows(500), 20, {method, kernel.name}), want) << kernel.name;
    }
  }
}

TEST(Search, BetweenTwoColumnsFindsEveryPair) {
  CounterRng rng = test_rng(21);
  for (const int bits : {64, 128, 256}) {
    for (const Kind& kind : kinds()) {
      const std::size_t count_a = 1 + rng.below(400);
      // Also few compared with many
      const std::size_t count_b = 1 + rng.below(bits == 128 ? 6 : 200);
      const CodeColumn a = column_of(count_a, bits, 31, kind.word);
      const CodeColumn b = column_of(count_b, bits, 32, kind.word);
      std::vector<std::uint32_t> rows_a = all_rows(count_a);
      rows_a.erase(rows_a.begin());
      const std::vector<std::uint32_t> rows_b = all_rows(count_b);
      const int radius = static_cast<int>(rng.below(10));
      std::vector<Edge> want;
      for (const std::uint32_t row : rows_a) {
        for (const auto& [other, distance] : neighbours_of(a.code(row), b, rows_b, radius)) {
          want.push_back({row, other, distance});
        }
      }
      std::ranges::sort(want);
      for (const SearchMethod method :
           {SearchMethod::kAuto, SearchMethod::kScan, SearchMethod::kJoin}) {
        std::vector<Edge> got;
        find_edges_between(
            {a, rows_a}, {b, rows_b}, radius,
            [&](std::span<const Edge> batch) { got.insert(got.end(), batch.begin(), batch.end()); },
            {method, {}});
        std::ranges::sort(got);
        ASSERT_EQ(got, want) << kind.name << ", " << bits << " bits within " << radius;
      }
    }
  }
}

TEST(Search, EndsWithWhatTheSinkThrows) {
  const CodeColumn codes = column_of(1500, 64, 5, kinds()[1].word);
  EXPECT_THROW(find_edges(codes, all_rows(1500), 8,
                          [](std::span<const Edge>) { throw std::runtime_error("full"); }),
               std::runtime_error);
}

// The sorted edges of each part. Expects all parts to agree on how they divide the work.
std::vector<std::vector<Edge>> edges_by_part(const CodeColumn& codes,
                                             const std::vector<std::uint32_t>& rows, int radius,
                                             int parts, const SearchOptions& options = {}) {
  std::vector<std::vector<Edge>> found(static_cast<std::size_t>(parts));
  std::optional<std::uint64_t> division;
  for (int part = 0; part < parts; ++part) {
    std::vector<Edge>& edges = found[static_cast<std::size_t>(part)];
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    part % 2 == 0 ? 1 : 3);
    const std::uint64_t divided = find_edges_of_part(
        codes, rows, radius, {part, parts},
        [&](std::span<const Edge> batch) { edges.insert(edges.end(), batch.begin(), batch.end()); },
        options);
    EXPECT_EQ(division.value_or(divided), divided) << part << " of " << parts;
    division = divided;
    std::ranges::sort(edges);
  }
  return found;
}

std::vector<Edge> together(const std::vector<std::vector<Edge>>& parts) {
  std::vector<Edge> all;
  for (const std::vector<Edge>& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  return all;
}

TEST_P(Search, InPartsFindsEveryEdgeOnce) {
  const int bits = GetParam();
  CounterRng rng = test_rng(static_cast<std::uint64_t>(bits) + 1);
  for (const Kind& kind : kinds()) {
    CodeColumn codes = column_of(kind.rows, bits, 3, kind.word);
    const std::vector<std::uint32_t> rows = all_rows(kind.rows);
    for (const char* hash : {"test", "test_mirrored"}) {
      codes.orientations = empty_codes(bits == 64 ? "test" : hash, 1, bits).orientations;
      const int radius = static_cast<int>(rng.below(14));
      const auto want = edges_within(codes, rows, radius);
      constexpr SearchMethod kMethods[] = {SearchMethod::kAuto, SearchMethod::kScan,
                                           SearchMethod::kJoin, SearchMethod::kJoin};
      const SearchMethod method = kMethods[rng.below(4)];
      const int parts = 2 + static_cast<int>(rng.below(7));
      SCOPED_TRACE(std::string(kind.name) + " within " + std::to_string(radius) + " in " +
                   std::to_string(parts));
      ASSERT_EQ(together(edges_by_part(codes, rows, radius, parts, {method, {}})), want);
    }
  }
}

TEST(SearchParts, FindTheSameByEveryKernel) {
  const CodeColumn codes = column_of(500, 256, 5, kinds()[1].word);
  const auto want = edges_within(codes, all_rows(500), 20, kScan);
  for (const ScanKernel& kernel : scan_kernels()) {
    if (!kernel.runs_here()) continue;
    const SearchOptions options{SearchMethod::kAuto, kernel.name};
    EXPECT_EQ(together(edges_by_part(codes, all_rows(500), 20, 3, options)), want) << kernel.name;
  }
}

// Every code means about the same work, so parts find about the same number of edges.
TEST(SearchParts, HaveAboutAsMuchToDo) {
  constexpr std::uint32_t kRows = 200'000;
  CodeColumn codes = column_of(kRows, 64, 9, kinds()[0].word);
  CounterRng rng = test_rng(10);
  for (std::uint32_t a = 0; a < kRows / 2; a += 5) {
    codes.words[a + kRows / 2] = codes.words[a] ^ random_flips(rng, 1 + static_cast<int>(a % 6));
  }
  const std::vector<std::uint32_t> rows = all_rows(kRows);
  const auto want = edges_within(codes, rows, 6);
  for (const int parts : {2, 5}) {
    const auto found = edges_by_part(codes, rows, 6, parts);
    EXPECT_EQ(together(found), want);
    for (const auto& edges : found) {
      EXPECT_NEAR(static_cast<double>(edges.size() * static_cast<std::size_t>(parts)),
                  static_cast<double>(want.size()), 0.1 * static_cast<double>(want.size()))
          << parts;
    }
  }
}

TEST(SearchParts, TellWhereTheyDoNotFitTogether) {
  CodeColumn codes = column_of(20'000, 64, 9, kinds()[0].word);
  const std::vector<std::uint32_t> rows = all_rows(20'000);
  const auto division = [&](int radius, const SearchPart& part) {
    return find_edges_of_part(codes, rows, radius, part, [](std::span<const Edge>) {});
  };
  const std::uint64_t first = division(6, {0, 3});
  EXPECT_EQ(division(6, {1, 3}), first);
  EXPECT_NE(division(6, {1, 2}), first);
  EXPECT_NE(division(5, {1, 3}), first);
  for (std::size_t row = 0; row < 40; ++row) codes.words[row] = row;
  EXPECT_NE(division(6, {1, 3}), first);
}

// A third of the codes are in a few buckets, which all parts share.
TEST(SearchParts, DivideHeaps) {
  constexpr std::size_t kRows = 15'000;
  const CodeColumn codes =
      column_of(kRows, 64, 4, [](CounterRng& rng, std::size_t row, std::size_t) {
        const std::uint64_t word = rng.next_u64();
        return row % 3 == 0 ? word & rng.next_u64() & 0x0003C0F00F03C0F0 : word;
      });
  const auto want = edges_within(codes, all_rows(kRows), 5);
  for (const int parts : {2, 4, 7}) {
    const auto found = edges_by_part(codes, all_rows(kRows), 5, parts);
    EXPECT_EQ(together(found), want);
    for (const auto& edges : found) {
      EXPECT_GT(2 * edges.size() * static_cast<std::size_t>(parts), want.size());
    }
  }
}

TEST(ShareOut, GivesEveryCellToOnePartUnlessItIsLarge) {
  CounterRng rng = test_rng(5);
  for (const std::size_t parts : {1U, 2U, 3U, 16U}) {
    std::vector<std::uint64_t> costs(4096);
    for (std::uint64_t& cost : costs) cost = rng.below(10) == 0 ? 0 : 1 + rng.below(1000);
    costs[7] = 1001;
    std::vector<std::uint64_t> loads(parts, 5);
    const auto owners = share_out(costs, 1000, loads);
    std::vector<std::uint64_t> sums(parts, 5);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (i == 7) {
        EXPECT_EQ(owners[i], kAllParts);
      } else if (costs[i] == 0) {
        EXPECT_EQ(owners[i], kNoPart);
      } else {
        ASSERT_LT(owners[i], parts);
        sums[owners[i]] += costs[i];
      }
    }
    EXPECT_EQ(sums, loads);
    const auto [least, most] = std::ranges::minmax(loads);
    EXPECT_LE(most - least, 1000U);
  }
}

TEST(NeighboursOf, AreThoseWithinTheRadiusInTheOrderOfRows) {
  const CodeColumn codes{"test", 1, 64, {0, 3, 1, 255, 1}};
  const std::vector<std::uint64_t> code{1};
  const std::vector<std::uint32_t> rows{4, 3, 1, 0};
  EXPECT_THAT(neighbours_of(code, codes, rows, 1),
              testing::ElementsAre(Neighbour{4, 0}, Neighbour{1, 1}, Neighbour{0, 1}));
}

TEST(CheckEdges, SeesWhatIsMissingAndWhatIsWrong) {
  const CodeColumn codes = column_of(500, 64, 6, [](CounterRng& rng, std::size_t row, std::size_t) {
    return row % 5 == 0 ? 0 : random_flips(rng, 2);
  });
  const auto rows = all_rows(500);
  const std::vector<Edge> edges = edges_within(codes, rows, 3);
  const SelfCheck good = check_edges(codes, rows, 3, edges, 400, 1);
  EXPECT_EQ(good.queries, 400U);
  EXPECT_GT(good.edges, 400U);
  EXPECT_EQ(good.missing, std::vector<Edge>{});
  EXPECT_EQ(good.wrong, std::vector<Edge>{});

  std::vector<Edge> bad = edges;
  const Edge lost = bad[bad.size() / 2];
  bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(bad.size() / 2));
  const Edge first = bad.front();
  ++bad.front().distance;
  const SelfCheck check = check_edges(codes, rows, 3, bad, 5000, 1);  // more than there are
  EXPECT_EQ(check.queries, 500U);
  EXPECT_THAT(check.missing, testing::UnorderedElementsAre(first, lost));
  EXPECT_THAT(check.wrong, testing::ElementsAre(bad.front()));
  EXPECT_EQ(check_edges(codes, {}, 3, {}, 10, 1).queries, 0U);
}

JoinCase uniform_case(double codes, std::size_t words, int radius) {
  return {codes, codes * (codes - 1) / 2, words, radius, radius, {}};
}

TEST(PlanJoin, GivesBandsThatShareNoBits) {
  const std::vector<std::uint64_t> unused{~std::uint64_t{0xFF}, ~std::uint64_t{0}};
  const JoinPlan plan = plan_join(uniform_case(1e6, 2, 8), unused, join_costs(0.05, 2));
  ASSERT_GT(plan.choice.levels, 0);
  ASSERT_EQ(plan.bands.size(), static_cast<std::size_t>(8 + plan.choice.levels));
  std::vector<std::uint64_t> seen(2);
  for (const Band& band : plan.bands) {
    EXPECT_GE(band.bits.size(), 1U);
    EXPECT_LE(band.bits.size(), kMaxBandBits);
    std::vector<std::uint64_t> mask(2);
    for (const std::uint16_t bit : band.bits) mask[bit / 64] |= std::uint64_t{1} << (bit % 64);
    EXPECT_EQ(mask, band.mask);
    for (std::size_t w = 0; w < 2; ++w) {
      EXPECT_EQ(band.mask[w] & seen[w], 0U);
      EXPECT_EQ(band.mask[w] & ~unused[w], 0U);
      seen[w] |= band.mask[w];
    }
  }
}

TEST(PlanJoin, ScansFewCodesAndWideRadiiAndAgreesInMoreBandsTheMoreThereAre) {
  const std::vector<std::uint64_t> all{~std::uint64_t{0}};
  const JoinCosts costs = join_costs(0.05, 1);
  const auto levels = [&](double codes, int radius) {
    return plan_join(uniform_case(codes, 1, radius), all, costs).choice.levels;
  };
  EXPECT_EQ(levels(300, 8), 0);
  EXPECT_EQ(levels(1e6, 32), 0);
  EXPECT_EQ(levels(1e6, 64), 0);
  EXPECT_GT(levels(1e6, 8), 0);
  EXPECT_GT(levels(1e8, 8), levels(1e5, 8));
}

// For few codes compared with many, planning a join takes longer than the scan itself.
TEST(PlanJoin, IsForNothingWhereAScanIsCheapest) {
  const std::vector<std::uint64_t> all{~std::uint64_t{0}, ~std::uint64_t{0}};
  int cheapest = 0;
  int planned = 0;
  for (const double pair_ns : {0.05, 0.9}) {
    const JoinCosts costs = join_costs(pair_ns, 2);
    for (const double asked : {1.0, 80.0, 1e3, 1e4, 1e5}) {
      for (const int radius : {0, 4, 12}) {
        const JoinCase problem{1e5 + asked, 1e5 * asked, 2, radius, radius, {}};
        const int levels = plan_join(problem, all, costs).choice.levels;
        if (levels > 0) ++planned;
        if (!is_scan_cheapest(problem, costs)) continue;
        ++cheapest;
        EXPECT_EQ(levels, 0) << asked << " codes, " << radius << " bits";
      }
    }
  }
  EXPECT_GE(cheapest, 8);
  EXPECT_GE(planned, 8);
}

TEST(PlanJoin, KnowsItsWork) {
  JoinCase problem = uniform_case(1000, 1, 2);
  JoinPlan plan;
  EXPECT_EQ(work_of(problem, plan).pairs, problem.pairs);
  EXPECT_EQ(work_of(problem, plan).moves, 0);
  plan.choice.levels = 2;
  plan.bands.assign(4, Band{{0, 1, 2}, {7}});
  EXPECT_EQ(work_of(problem, plan).moves, (3 + 6) * 1000);
  EXPECT_EQ(work_of(problem, plan).pairs, 6 * problem.pairs / 64);
}

TEST(PlanJoin, LooksAtTheCodesThereAre) {
  const std::vector<std::uint64_t> all{~std::uint64_t{0}};
  const JoinCosts costs = join_costs(0.05, 1);
  JoinCase problem = uniform_case(1e6, 1, 4);
  CounterRng rng = test_rng(3);
  // Pairs differ only in the low 24 bits, and the bits of each byte differ together.
  std::vector<std::uint64_t> differences;
  for (int i = 0; i < 1024; ++i) {
    std::uint64_t difference = 0;
    for (const std::uint64_t byte : {0xFFU, 0xFF00U, 0xFF0000U}) {
      difference |= rng.below(2) == 0 ? byte : 0;
    }
    differences.push_back(difference);
  }
  problem.differences = differences;
  const JoinPlan together = plan_join(problem, all, costs);
  EXPECT_EQ(together.choice.levels, 0) << "five bands of three bits: one is always equal";

  for (std::uint64_t& difference : differences) difference = rng.next_u64() & 0xFFFFFFFFFF;
  const JoinPlan apart = plan_join(problem, all, costs);
  EXPECT_GT(apart.choice.levels, 0);
  for (const Band& band : apart.bands) {
    EXPECT_EQ(band.mask[0] >> 40, 0U) << "bits that never differ part nobody";
  }
  EXPECT_GT(apart.choice.cost_ns, plan_join(uniform_case(1e6, 1, 4), all, costs).choice.cost_ns);
}

}  // namespace winnow::dedup::search_test
