#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "dedup/search/scan.h"
#include "dedup/search/search.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::edges_test {

// Codes in clusters: random centres, members a few bits away, some equal.
CodeColumn clustered_codes(std::size_t rows, int bits, std::uint64_t seed) {
  CounterRng rng = test_rng(seed);
  CodeColumn column{"test", 1, bits, {}};
  const std::size_t words = column.words_per_code();
  std::vector<std::uint64_t> centre(words);
  for (std::size_t row = 0; row < rows; ++row) {
    if (row == 0 || rng.below(8) == 0) {
      for (std::uint64_t& word : centre) word = rng.next_u64();
    }
    for (const std::uint64_t word : centre) {
      column.words.push_back(word ^ random_flips(rng, static_cast<int>(rng.below(6))));
    }
  }
  return column;
}

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  return rows;
}

// The contract of edges_within, pair by pair.
std::vector<Edge> slow_edges(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                             int radius) {
  std::map<std::vector<std::uint64_t>, std::uint32_t> first_row;
  for (const std::uint32_t row : rows) {
    const auto code = codes.code(row);
    const auto [at, added] = first_row.try_emplace({code.begin(), code.end()}, row);
    at->second = std::min(at->second, row);
  }
  std::vector<Edge> edges;
  for (const std::uint32_t a : rows) {
    for (const std::uint32_t b : rows) {
      if (a >= b) continue;
      const auto first = [&](std::uint32_t row) {
        return first_row.at({codes.code(row).begin(), codes.code(row).end()});
      };
      int distance = 0;
      for (std::size_t bit = 0; bit < static_cast<std::size_t>(codes.bits); ++bit) {
        const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
        distance += (codes.code(a)[bit / 64] & mask) != (codes.code(b)[bit / 64] & mask);
      }
      const bool linked = distance == 0 ? first(a) == a : first(a) == a && first(b) == b;
      if (linked && distance <= radius) {
        edges.push_back({a, b, static_cast<std::uint32_t>(distance)});
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

struct Case {
  int bits;
  std::size_t rows;
};

class EdgesWithin : public testing::TestWithParam<Case> {};

TEST_P(EdgesWithin, AreThoseOfTheSlowLoopAtEveryRadius) {
  const auto [bits, row_count] = GetParam();
  const CodeColumn codes = clustered_codes(row_count, bits, row_count);
  const auto rows = all_rows(row_count);
  std::size_t before = 0;
  for (int radius = 0; radius <= 12; ++radius) {
    const auto edges = edges_within(codes, rows, radius);
    ASSERT_EQ(edges, slow_edges(codes, rows, radius)) << "radius " << radius;
    EXPECT_GE(edges.size(), before);
    before = edges.size();
  }
  if (row_count > 100) {
    EXPECT_GT(before, row_count / 4) << "the codes hold too few neighbours";
  }
}

INSTANTIATE_TEST_SUITE_P(Codes, EdgesWithin,
                         testing::Values(Case{64, 0}, Case{64, 1}, Case{64, 2}, Case{64, 300},
                                         Case{128, 300}, Case{192, 120}, Case{256, 120}),
                         [](const auto& info) {
                           return std::to_string(info.param.bits) + "_bits_" +
                                  std::to_string(info.param.rows) + "_rows";
                         });

TEST(EdgesWithin, LooksAtTheGivenRowsOnlyInWhateverOrder) {
  const CodeColumn codes = clustered_codes(200, 64, 3);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 1; row < 200; row += 3) rows.push_back(row);
  const auto edges = edges_within(codes, rows, 10);
  EXPECT_EQ(edges, slow_edges(codes, rows, 10));
  std::reverse(rows.begin(), rows.end());
  EXPECT_EQ(edges_within(codes, rows, 10), edges);
}

TEST(EdgesWithin, CostsALineForAHeapOfEqualCodes) {
  CodeColumn codes{"test", 1, 64, std::vector<std::uint64_t>(5000, 42)};
  const auto edges = edges_within(codes, all_rows(5000), 8);
  ASSERT_EQ(edges.size(), 4999U);
  for (std::uint32_t i = 0; i < 4999; ++i) ASSERT_EQ(edges[i], (Edge{0, i + 1, 0}));
}

TEST(EdgesWithin, FindsEveryPairAtTheLargestRadius) {
  const CodeColumn codes{"test", 1, 64, {0, ~std::uint64_t{0}, 1}};
  EXPECT_THAT(edges_within(codes, all_rows(3), 64),
              testing::ElementsAre(Edge{0, 1, 64}, Edge{0, 2, 1}, Edge{1, 2, 63}));
  EXPECT_THAT(edges_within(codes, all_rows(3), 63),
              testing::ElementsAre(Edge{0, 2, 1}, Edge{1, 2, 63}));
}

// Several blocks, so that the work really is divided. Planted pairs show that none is lost at a
// border.
TEST(EdgesWithin, GivesTheSameOn1And2And8Threads) {
  constexpr std::uint32_t kRows = 9000;
  CounterRng rng = test_rng(7);
  CodeColumn codes{"test", 1, 64, {}};
  for (std::uint32_t row = 0; row < kRows; ++row) codes.words.push_back(rng.next_u64());
  std::vector<Edge> planted;
  for (std::uint32_t a = 0; a + 4500 < kRows; a += 100) {
    const int distance = static_cast<int>(rng.below(7));
    codes.words[a + 4500] = codes.words[a] ^ random_flips(rng, distance);
    planted.push_back({a, a + 4500, static_cast<std::uint32_t>(distance)});
  }
  const auto edges_on = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return edges_within(codes, all_rows(kRows), 6);
  };
  const auto one = edges_on(1);
  EXPECT_EQ(one, planted);  // random codes of 64 bits lie further apart than 6
  EXPECT_EQ(edges_on(2), one);
  EXPECT_EQ(edges_on(8), one);
}

// Codes in bit planes, as scans take them.
struct Planes {
  explicit Planes(const CodeColumn& column)
      : count(column.words.size() / column.words_per_code()), words(column.words.size()) {
    const std::size_t per_code = column.words_per_code();
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t w = 0; w < per_code; ++w) {
        words[w * count + j] = column.words[j * per_code + w];
      }
    }
    codes = {words.data(), count, per_code, count};
  }
  std::size_t count;
  std::vector<std::uint64_t> words;
  CodePlanes codes{};
};

TEST(ScanKernels, AllFindWhatABitLoopFinds) {
  CounterRng rng = test_rng(11);
  int run = 0;
  for (const std::size_t words : {1U, 2U, 3U, 4U, 5U}) {
    const CodeColumn rowwise = clustered_codes(700, static_cast<int>(64 * words), words);
    const Planes planes(rowwise);
    for (const ScanKernel& kernel : scan_kernels()) {
      if (!kernel.runs_here()) continue;
      ++run;
      for (int i = 0; i < 40; ++i) {
        const std::size_t first = rng.below(700);
        const std::size_t last = first + rng.below(static_cast<std::uint32_t>(700 - first) + 1);
        const auto query = rowwise.code(rng.below(700));
        const std::uint32_t radius = rng.below(40);
        std::vector<std::uint64_t> differ(words * rng.below(3));
        for (std::uint64_t& mask : differ) mask = random_flips(rng, 24);
        std::vector<Neighbour> want;
        for (std::size_t j = first; j < last; ++j) {
          const auto code = rowwise.code(j);
          const auto distance = static_cast<std::uint32_t>(hamming(code, query));
          bool near = distance <= radius;
          for (std::size_t m = 0; m < differ.size(); m += words) {
            std::uint64_t bits = 0;
            for (std::size_t w = 0; w < words; ++w) bits |= (code[w] ^ query[w]) & differ[m + w];
            near &= bits != 0;
          }
          if (near) want.push_back({static_cast<std::uint32_t>(j - first), distance});
        }
        std::vector<std::uint32_t> hits(last - first);
        std::vector<std::uint32_t> distances(last - first);
        const std::size_t found =
            kernel.scan(planes.codes.part(first, last), {query.data(), radius, differ}, hits.data(),
                        distances.data());
        std::vector<Neighbour> got;
        for (std::size_t h = 0; h < found; ++h) got.push_back({hits[h], distances[h]});
        ASSERT_EQ(got, want) << kernel.name << ", " << words << " words";
      }
    }
  }
  EXPECT_GE(run, 5);  // at least the portable one, at every size
  EXPECT_TRUE(best_scan_kernel().runs_here());
}

TEST(ScanKernels, LeaveOutOnlyQueriesThatHaveNothingNear) {
  CounterRng rng = test_rng(12);
  for (const std::size_t words : {1U, 2U, 3U, 4U}) {
    CodeColumn rowwise{"test", 1, static_cast<int>(64 * words), {}};
    for (std::size_t i = 0; i < 400 * words; ++i) rowwise.words.push_back(rng.next_u64());
    for (int pair = 0; pair < 12; ++pair) {
      const std::size_t a = rng.below(400);
      const std::size_t b = rng.below(400);
      for (std::size_t w = 0; w < words; ++w) {
        rowwise.words[b * words + w] = rowwise.words[a * words + w];
      }
      rowwise.words[b * words] ^= random_flips(rng, static_cast<int>(rng.below(4)));
    }
    const Planes planes(rowwise);
    for (const ScanKernel& kernel : scan_kernels()) {
      if (!kernel.runs_here()) continue;
      for (const std::size_t count : {1U, 3U, 4U, 90U, 201U}) {
        for (const bool triangle : {false, true}) {
          const std::size_t queries_at = rng.below(200);
          const std::size_t codes_at = triangle ? queries_at : rng.below(100);
          const CodePlanes queries = planes.codes.part(queries_at, queries_at + count);
          const CodePlanes codes = triangle ? queries : planes.codes.part(codes_at, codes_at + 250);
          std::vector<std::uint32_t> found(count);
          found.resize(kernel.candidates(queries, codes, triangle, 3, found.data()));
          EXPECT_TRUE(std::ranges::is_sorted(found));
          for (std::uint32_t i = 0; i < count; ++i) {
            bool near = false;
            for (std::size_t j = triangle ? i + 1 : 0; j < codes.count; ++j) {
              near |= hamming(rowwise.code(queries_at + i), rowwise.code(codes_at + j)) <= 3;
            }
            if (near) {
              EXPECT_TRUE(std::ranges::binary_search(found, i)) << kernel.name << " " << words;
            }
          }
          if (words != 3 && !triangle && count == 4) {
            EXPECT_LE(found.size(), 4U);
          }
        }
      }
      // Nothing is near, so there are no candidates.
      std::vector<std::uint32_t> found(400);
      if (words != 3) {
        const Planes alone(CodeColumn{"test", 1, static_cast<int>(64 * words),
                                      std::vector<std::uint64_t>(words, 0)});
        const Planes far(CodeColumn{"test", 1, static_cast<int>(64 * words),
                                    std::vector<std::uint64_t>(77 * words, 0xFFFF)});
        EXPECT_EQ(kernel.candidates(alone.codes, far.codes, false, 15, found.data()), 0U);
        EXPECT_EQ(kernel.candidates(alone.codes, far.codes, false,
                                    static_cast<std::uint32_t>(16 * words), found.data()),
                  1U);
      }
    }
  }
}

TEST(ScanKernels, CompareAllWordsOnlyWhereTheFirstSayLittle) {
  EXPECT_EQ(words_to_compare(1, 8), 1U);
  EXPECT_EQ(words_to_compare(2, 8), 1U);
  EXPECT_EQ(words_to_compare(2, 20), 2U);
  EXPECT_EQ(words_to_compare(4, 31), 2U);
  EXPECT_EQ(words_to_compare(4, 60), 4U);
  EXPECT_EQ(words_to_compare(5, 60), 4U);
  EXPECT_EQ(words_to_compare(3, 192), 3U);
}

TEST(ScanKernels, CompareMoreWordsOfCodesThatAreAlike) {
  CounterRng rng = test_rng(15);
  std::vector<std::uint64_t> uniform;
  std::vector<std::uint64_t> alike;  // the first word has only 32 random bits
  for (int pair = 0; pair < 500; ++pair) {
    for (int w = 0; w < 2; ++w) uniform.push_back(rng.next_u64());
    alike.push_back(rng.next_u64() & 0xFFFFFFFF);
    alike.push_back(rng.next_u64());
  }
  EXPECT_EQ(words_to_compare(2, 8, uniform), 1U);
  EXPECT_EQ(words_to_compare(2, 8, alike), 2U);
  EXPECT_EQ(words_to_compare(1, 8, alike), 1U);
  EXPECT_EQ(words_to_compare(2, 8, std::span(alike).first(20)), 1U);  // too small a sample
}

TEST(ScanKernels, GatherBitsInTheOrderAsked) {
  CounterRng rng = test_rng(13);
  CodeColumn rowwise{"test", 1, 128, {}};
  for (int i = 0; i < 2 * 1100; ++i) rowwise.words.push_back(rng.next_u64());
  const Planes planes(rowwise);
  const std::vector<std::uint16_t> bits{127, 0, 64, 5, 63, 70, 1};
  for (const ScanKernel& kernel : scan_kernels()) {
    if (!kernel.runs_here()) continue;
    std::vector<std::uint16_t> keys(1090);
    kernel.gather_bits(planes.codes.part(10, 1100), bits, keys.data());
    for (std::size_t j = 0; j < keys.size(); ++j) {
      std::uint32_t want = 0;
      for (const std::uint16_t bit : bits) {
        want = want * 2 + ((rowwise.code(10 + j)[bit / 64] >> (bit % 64)) & 1);
      }
      ASSERT_EQ(keys[j], want) << kernel.name << " " << j;
    }
  }
}

TEST(EqualEdges, LinkEachRowToTheFirstOfItsHash) {
  CounterRng rng = test_rng(5);
  std::vector<Hash128> hashes;
  for (int i = 0; i < 500; ++i) hashes.push_back(hash_of_number(rng.below(100)));
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < 500; row += 1 + rng.below(2)) rows.push_back(row);
  std::vector<Edge> want;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (hashes[rows[i]] != hashes[rows[j]]) continue;
      want.push_back({rows[j], rows[i], 0});
      break;  // only the first
    }
  }
  std::sort(want.begin(), want.end());
  EXPECT_EQ(equal_edges(hashes, rows), want);
  EXPECT_GT(want.size(), 100U);
}

}  // namespace winnow::dedup::edges_test
