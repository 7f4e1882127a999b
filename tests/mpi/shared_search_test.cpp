#include "dedup/ranks/shared_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "tests/dedup/tables.h"
#include "tests/mpi/mpi_test.h"

namespace winnow::dedup::shared_search_test {

using comm::mpi_world;

// Chains of near codes, groups of equal ones, and some rows of quality 0.
Fingerprints table_of(std::size_t rows) {
  CounterRng rng = test_rng(8);
  std::vector<TestImage> images;
  for (std::size_t i = 0; i < rows; ++i) {
    TestImage image{.id = i, .file = i, .pixels = i};
    image.split = static_cast<Split>(1 + rng.below(3));
    image.code = rng.next_u64();
    const std::uint32_t kind = rng.below(4);
    if (i > 0 && kind > 0) {
      image.code = images[rng.below(static_cast<std::uint32_t>(i))].code;
      if (kind == 1) image.code ^= random_flips(rng, 1 + static_cast<int>(rng.below(7)));
    }
    if (rng.below(20) == 0) image.quality = 0;
    images.push_back(image);
  }
  return make_table(images);
}

ColumnSource columns_of(const Fingerprints& table) {
  return [&table](const ColumnNames& names) { return select_columns(table, names); };
}

TEST(SharedSearch, DecidesTheSameOnAnyNumberOfRanks) {
  const Fingerprints table = table_of(3000);
  for (const Scope scope : {Scope::kAll, Scope::kWithin}) {
    for (const int threshold : {0, 4, 9}) {
      Options options;
      options.threshold = threshold;
      options.scope = scope;
      bool decided = false;
      with_shared_search(mpi_world(), [&](const LinkSource& links) {
        decided = true;
        EXPECT_TRUE(links);
        const Result want = deduplicate(table, options);
        const Result got = deduplicate(columns_of(table), options, links);
        EXPECT_GT(want.removed, 100U);
        EXPECT_EQ(serialize(got.selection), serialize(want.selection));
        EXPECT_EQ(got.leaks, want.leaks);
      });
      EXPECT_EQ(decided, mpi_world().rank() == 0);
    }
  }
}

TEST(SharedSearch, GivesEveryLinkWhereThatIsAskedFor) {
  CodeColumn codes = table_of(2000).codes.front();
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 2000; row-- > 0;) {
    if (row % 7 != 0) rows.push_back(row);
  }
  for (const char* hash : {"phash", "phash_mirrored"}) {
    codes.hash = hash;
    codes.orientations = empty_codes(hash, 1, 128).orientations;
    if (codes.orientations == 2) {
      codes.bits = 128;
      std::erase_if(rows, [](std::uint32_t row) { return row >= 1000; });
    }
    const std::vector<Edge> want = edges_within(codes, rows, 8);
    EXPECT_GT(want.size(), rows.size() / 2);
    for (const bool all : {true, false}) {
      with_shared_search(mpi_world(),
                         [&](const LinkSource& links) {
                           std::vector<Edge> got;
                           const EdgeSink sink = [&](std::span<const Edge> edges) {
                             got.insert(got.end(), edges.begin(), edges.end());
                           };
                           links ? links(codes, rows, 8, sink) : find_edges(codes, rows, 8, sink);
                           std::ranges::sort(got);
                           if (all) {
                             EXPECT_EQ(got, want);
                           } else {
                             EXPECT_TRUE(std::ranges::includes(want, got));
                           }
                         },
                         {.all_links = all});
    }
  }
}

TEST(SharedSearch, FailsOnAllRanksWhereDecidingFails) {
  const auto refuse = [](const LinkSource&) { throw RefusedError("no, by rank 0"); };
  try {
    with_shared_search(mpi_world(), refuse);
    FAIL() << "nothing was thrown";
  } catch (const comm::PeerError& error) {
    EXPECT_NE(mpi_world().rank(), 0);
    EXPECT_EQ(error.exit_code(), 3);
  } catch (const Error& error) {
    EXPECT_EQ(mpi_world().rank(), 0);
    EXPECT_EQ(std::string(error.what()), "no, by rank 0");
  }
}

TEST(SharedSearch, FailsOnAllRanksWhereASearchFails) {
  const CodeColumn codes = table_of(2000).codes.front();
  std::vector<std::uint32_t> rows(2000);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const auto fail = [&](const LinkSource& links) {
    const EdgeSink sink = [](std::span<const Edge>) { throw Error("the sink is full"); };
    links ? links(codes, rows, 8, sink) : find_edges(codes, rows, 8, sink);
  };
  EXPECT_THROW(with_shared_search(mpi_world(), fail), Error);
  // All ranks are still in step.
  with_shared_search(mpi_world(), [](const LinkSource&) {});
}

}  // namespace winnow::dedup::shared_search_test
