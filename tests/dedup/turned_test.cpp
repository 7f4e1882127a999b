// Codes of several orientations: the distance of rows, and that the search finds all pairs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "common/error.h"
#include "dedup/cluster/cluster.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/search/search.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::turned_test {

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  return rows;
}

// Rows, of which some repeat others, some are near another as they are or in some orientation, some
// agree in one orientation only, and some look the same in two.
CodeColumn turned_codes(const char* hash, std::size_t words, std::size_t rows, std::uint64_t seed) {
  CounterRng rng = test_rng(seed);
  CodeColumn column = empty_codes(hash, 1, 0);
  const auto orientations = static_cast<std::size_t>(column.orientations);
  column.bits = static_cast<int>(64 * words * orientations);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::uint64_t> codes(words * orientations);
    for (std::uint64_t& word : codes) word = rng.next_u64();
    const auto at = [&](std::size_t k) {
      return codes.begin() + static_cast<std::ptrdiff_t>(k * words);
    };
    const auto any = [&] { return rng.below(static_cast<std::uint32_t>(orientations)); };
    const std::uint32_t kind = rng.below(5);
    if (row > 0 && kind > 0) {
      const auto other = column.code(rng.below(static_cast<std::uint32_t>(row)));
      const std::size_t from = any() * words;
      if (kind == 1) {
        codes.assign(other.begin(), other.end());
      } else if (kind == 2) {
        std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), words, at(0));
      } else {
        std::copy_n(other.begin(), words, at(any()));
      }
      *at(any()) ^= random_flips(rng, static_cast<int>(rng.below(6)));
    }
    if (rng.below(6) == 0) std::copy_n(at(0), words, at(any()));
    column.words.insert(column.words.end(), codes.begin(), codes.end());
  }
  return column;
}

// Compares one row's code in each orientation with the other's plain code, bit by bit. A quarter
// turn to the right of one is a turn to the left of the other.
std::uint32_t slow_distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                            std::size_t orientations) {
  const std::size_t words = a.size() / orientations;
  std::uint32_t least = ~std::uint32_t{0};
  for (std::size_t k = 0; k < orientations; ++k) {
    if (k == 6) continue;
    for (const auto& [turned, other] : {std::pair{a, b}, std::pair{b, a}}) {
      std::uint32_t bits = 0;
      for (std::size_t i = 0; i < 64 * words; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << (i % 64);
        bits += (turned[k * words + i / 64] & bit) != (other[i / 64] & bit) ? 1 : 0;
      }
      least = std::min(least, bits);
    }
  }
  return least;
}

std::vector<Edge> slow_edges(const CodeColumn& codes, std::uint32_t rows, std::uint32_t radius) {
  std::map<std::vector<std::uint64_t>, std::uint32_t> first_row;
  std::vector<std::uint32_t> first;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const auto code = codes.code(row);
    first.push_back(first_row.try_emplace({code.begin(), code.end()}, row).first->second);
  }
  std::vector<Edge> edges;
  for (std::uint32_t b = 0; b < rows; ++b) {
    if (first[b] != b) {
      edges.push_back({first[b], b, 0});
      continue;
    }
    for (std::uint32_t a = 0; a < b; ++a) {
      if (first[a] != a) continue;
      const std::uint32_t distance =
          slow_distance(codes.code(a), codes.code(b), static_cast<std::size_t>(codes.orientations));
      if (distance <= radius) edges.push_back({a, b, distance});
    }
  }
  std::ranges::sort(edges);
  return edges;
}

struct Case {
  const char* hash;
  std::size_t words;
};

class Turned : public testing::TestWithParam<Case> {};

TEST_P(Turned, EdgesAreThoseOfEveryPairInEveryOrientation) {
  constexpr std::uint32_t kRows = 300;
  const CodeColumn codes = turned_codes(GetParam().hash, GetParam().words, kRows, 1);
  std::vector<std::uint32_t> rows = all_rows(kRows);
  std::ranges::reverse(rows);
  for (const int radius : {0, 3, 6, 14}) {
    const auto want = slow_edges(codes, kRows, static_cast<std::uint32_t>(radius));
    EXPECT_GT(want.size(), kRows / 4U);
    for (const SearchMethod method :
         {SearchMethod::kAuto, SearchMethod::kScan, SearchMethod::kJoin}) {
      EXPECT_EQ(edges_within(codes, rows, radius, {method, {}}), want) << radius;
    }
    const SelfCheck check = check_edges(codes, rows, radius, want, 50, 7);
    EXPECT_EQ(check.missing.size() + check.wrong.size(), 0U) << radius;
  }
}

TEST_P(Turned, EdgesBetweenTwoTablesAreThoseOfEveryPair) {
  constexpr std::uint32_t kRows = 250;
  const CodeColumn codes = turned_codes(GetParam().hash, GetParam().words, kRows, 2);
  const std::vector<std::uint32_t> rows = all_rows(kRows);
  const auto middle = rows.begin() + 100;
  const std::vector<std::uint32_t> a(rows.begin(), middle);
  const std::vector<std::uint32_t> b(middle, rows.end());
  std::vector<Edge> want;
  for (const std::uint32_t x : a) {
    for (const auto& [y, distance] : neighbours_of(codes.code(x), codes, b, 7)) {
      EXPECT_EQ(distance, slow_distance(codes.code(x), codes.code(y),
                                        static_cast<std::size_t>(codes.orientations)));
      want.push_back({x, y, distance});
    }
  }
  std::ranges::sort(want);
  EXPECT_GT(want.size(), 50U);
  for (const SearchMethod method : {SearchMethod::kScan, SearchMethod::kJoin}) {
    std::vector<Edge> got;
    find_edges_between(
        {codes, a}, {codes, b}, 7,
        [&](std::span<const Edge> edges) { got.insert(got.end(), edges.begin(), edges.end()); },
        {method, {}});
    std::ranges::sort(got);
    EXPECT_EQ(got, want);
  }
}

TEST_P(Turned, ShapesAreOfTheDistancesOfEveryPair) {
  const CodeColumn codes = turned_codes(GetParam().hash, GetParam().words, 40, 3);
  const std::vector<std::uint32_t> rows = all_rows(40);
  std::uint32_t furthest = 0;
  for (const std::uint32_t a : rows) {
    for (const std::uint32_t b : rows) {
      const int distance = row_distance(codes, a, b);
      EXPECT_EQ(distance, row_distance(codes, b, a));
      furthest = std::max(furthest, static_cast<std::uint32_t>(distance));
    }
  }
  EXPECT_EQ(shape_of(codes, rows, 4).diameter, furthest);
}

INSTANTIATE_TEST_SUITE_P(Hashes, Turned,
                         testing::Values(Case{"test_mirrored", 1}, Case{"test_dihedral", 1},
                                         Case{"test_mirrored@1/8", 4}, Case{"test_dihedral", 4}),
                         [](const auto& info) {
                           return (std::string(info.param.hash).starts_with("test_m")
                                       ? "mirrored_"
                                       : "dihedral_") +
                                  std::to_string(info.param.words);
                         });

TEST(TurnedCodes, OfEqualPicturesCostALine) {
  CodeColumn codes = empty_codes("test_dihedral", 1, 8 * 64);
  codes.words.assign(8 * 5000, 42);  // looks the same in all orientations
  EXPECT_EQ(edges_within(codes, all_rows(5000), 8).size(), 4999U);
}

Fingerprints mirrored_table() {
  Fingerprints table = make_table({{.id = 1, .file = 1, .pixels = 1},
                                   {.id = 2, .split = Split::kTest, .file = 2, .pixels = 2},
                                   {.id = 3, .file = 3, .pixels = 3}});
  // The second is the mirror image of the first, except for two bits.
  table.codes = {empty_codes("phash_mirrored", 1, 128)};
  table.codes[0].words = {0xFF00, 0xABCDEF, 0xABCDEC, 0xFF00FF, 0x12345678, 7};
  return table;
}

TEST(TurnedCodes, TellLeaksByMirrorImages) {
  Options options;
  options.hash = "phash_mirrored";
  options.threshold = 1;
  EXPECT_TRUE(deduplicate(mirrored_table(), options).leaks.empty());
  options.threshold = 2;
  const Result result = deduplicate(mirrored_table(), options);
  ASSERT_EQ(result.leaks.size(), 1U);
  EXPECT_EQ(result.leaks[0].a, Split::kTrain);
  EXPECT_EQ(result.leaks[0].b, Split::kTest);
  EXPECT_THAT(result.selection.distances, testing::ElementsAre(2, 0, 0));
}

TEST(TurnedCodes, HaveThresholdsOfOneOrientation) {
  Options options;
  options.hash = "phash_mirrored";
  options.threshold = 64;
  EXPECT_EQ(deduplicate(mirrored_table(), options).groups.size(), 1U);
  options.threshold = 65;
  try {
    deduplicate(mirrored_table(), options);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("from 0 to 64"), std::string::npos) << error.what();
  }
}

TEST(TurnedCodes, OfHalfAnOrientationMakeNoTable) {
  Fingerprints table = mirrored_table();
  table.codes[0].bits = 64;
  table.codes[0].words.resize(3);
  EXPECT_THROW(check_table(table, "this"), FormatError);
}

}  // namespace winnow::dedup::turned_test
