// The three decisions of deduplication: components, the image to keep, leaks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "common/error.h"
#include "dedup/cluster/cluster.h"
#include "dedup/cluster/stars.h"
#include "dedup/leak/leak.h"
#include "dedup/policy/policy.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::decide_test {

using testing::ElementsAre;

TEST(ConnectedComponents, AreWhatSpreadingLabelsFinds) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CounterRng rng = test_rng(seed);
    const std::uint32_t rows = 1 + rng.below(200);
    std::vector<Edge> edges;
    for (std::uint32_t i = rng.below(rows + 1); i > 0; --i) {
      const std::uint32_t a = rng.below(rows);
      const std::uint32_t b = rng.below(rows);
      if (a != b) edges.push_back({std::min(a, b), std::max(a, b), 1});
    }
    // Oracle: the smallest reachable row, passed along edges until nothing changes.
    std::vector<std::uint32_t> smallest(rows);
    std::iota(smallest.begin(), smallest.end(), std::uint32_t{0});
    for (bool changed = true; changed;) {
      changed = false;
      for (const Edge& edge : edges) {
        const std::uint32_t low = std::min(smallest[edge.a], smallest[edge.b]);
        changed = changed || smallest[edge.a] != low || smallest[edge.b] != low;
        smallest[edge.a] = smallest[edge.b] = low;
      }
    }
    const Components got = connected_components(rows, edges);
    ASSERT_EQ(got.of_row.size(), rows);
    std::uint32_t next = 0;
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (smallest[row] == row) {
        ASSERT_EQ(got.of_row[row], next++) << "numbers follow first rows";
      } else {
        ASSERT_EQ(got.of_row[row], got.of_row[smallest[row]]);
      }
    }
    EXPECT_EQ(got.count, next);

    std::shuffle(edges.begin(), edges.end(), std::minstd_rand(static_cast<unsigned>(seed)));
    EXPECT_EQ(connected_components(rows, edges).of_row, got.of_row);

    std::size_t grouped = 0;
    for (const auto& group : members_of_groups(got)) {
      ASSERT_GE(group.size(), 2U);
      EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
      for (const std::uint32_t row : group) EXPECT_EQ(smallest[row], group.front());
      grouped += group.size();
    }
    std::size_t linked = 0;
    for (std::uint32_t row = 0; row < rows; ++row) {
      linked += std::count(smallest.begin(), smallest.end(), smallest[row]) >= 2 ? 1 : 0;
    }
    EXPECT_EQ(grouped, linked);
  }
}

// Codes around a few centres, some equal, and chains of small steps between the centres.
CodeColumn codes_in_chains(std::size_t rows, std::uint64_t seed) {
  CounterRng rng = test_rng(seed);
  CodeColumn codes{"test", 1, 64, {}};
  std::uint64_t code = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (rng.below(12) == 0) code = rng.next_u64();
    code ^= random_flips(rng, static_cast<int>(rng.below(4)));
    codes.words.push_back(code);
  }
  return codes;
}

// The edges that edges_within would give. This test also runs under the thread sanitizer, which
// does not support it.
std::vector<Edge> slow_edges(const CodeColumn& codes, std::uint32_t rows, std::uint32_t radius) {
  std::vector<Edge> edges;
  const auto is_first = [&](std::uint32_t row) {
    const auto end = codes.words.begin() + row;
    return std::find(codes.words.begin(), end, codes.words[row]) == end;
  };
  for (std::uint32_t a = 0; a < rows; ++a) {
    for (std::uint32_t b = a + 1; b < rows && is_first(a); ++b) {
      const auto distance = static_cast<std::uint32_t>(hamming(codes.code(a), codes.code(b)));
      if (distance <= radius && (distance == 0 || is_first(b))) edges.push_back({a, b, distance});
    }
  }
  return edges;
}

std::vector<std::vector<std::uint32_t>> all_groups(const Components& components) {
  std::vector<std::vector<std::uint32_t>> groups(components.count);
  for (std::uint32_t row = 0; row < components.of_row.size(); ++row) {
    groups[components.of_row[row]].push_back(row);
  }
  return groups;
}

// As in deduplication: rows with the same code form one node.
LinkedNodes nodes_of(std::size_t rows, const std::vector<Edge>& edges) {
  std::vector<Edge> same;
  std::vector<Edge> others;
  for (const Edge& edge : edges) (edge.distance == 0 ? same : others).push_back(edge);
  return {connected_components(rows, same), others};
}

// Groups in which earlier rows are preferred, and every row may be represented by another.
Components group(std::size_t rows, const std::vector<Edge>& edges, GroupKind kind) {
  const LinkedNodes nodes = nodes_of(rows, edges);
  if (kind == GroupKind::kCliques) return cliques_of(nodes);
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  return stars_of(nodes, order, {[](std::uint32_t, std::uint32_t) { return true; }}).groups;
}

TEST(GroupRows, KeepsWhatEachKindPromises) {
  constexpr int kThreshold = 4;
  std::size_t chains = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const CodeColumn codes = codes_in_chains(150, seed);
    std::vector<Edge> edges = slow_edges(codes, 150, kThreshold);
    const auto near = [&](std::uint32_t a, std::uint32_t b) {
      return hamming(codes.code(a), codes.code(b)) <= kThreshold;
    };
    for (const auto& rows : all_groups(connected_components(150, edges))) {
      chains += shape_of(codes, rows, kThreshold).chain ? 1 : 0;
    }
    for (const GroupKind kind : {GroupKind::kStars, GroupKind::kCliques}) {
      const bool star = kind == GroupKind::kStars;
      const Components got = group(150, edges, kind);
      const auto groups = all_groups(got);
      std::uint32_t next_first = 0;
      for (std::uint32_t g = 0; g < got.count; ++g) {
        ASSERT_FALSE(groups[g].empty());
        ASSERT_GE(groups[g].front(), next_first) << "numbers follow first rows";
        next_first = groups[g].front() + 1;
        const GroupShape shape = shape_of(codes, groups[g], kThreshold);
        EXPECT_LE(shape.diameter, star ? 2U * kThreshold : kThreshold);
        for (std::uint32_t row = 0; row < 150; ++row) {
          const bool fits = star ? near(groups[g].front(), row)
                                 : std::ranges::all_of(groups[g], [&](std::uint32_t member) {
                                     return near(member, row);
                                   });
          if (got.of_row[row] == g) {
            EXPECT_TRUE(fits);
          } else if (got.of_row[row] > g) {
            EXPECT_FALSE(fits) << "row " << row << " would have belonged to group " << g;
          }
        }
      }
      std::shuffle(edges.begin(), edges.end(), std::minstd_rand(static_cast<unsigned>(seed)));
      EXPECT_EQ(group(150, edges, kind).of_row, got.of_row) << "whatever the order of edges";
    }
  }
  EXPECT_GT(chains, 20U) << "the codes hold too few chains";
}

// Some rows stay whatever they are linked to. The preferred rows come first in `order`.
TEST(Stars, LetGoWhatIsLinkedToWhatStays) {
  constexpr std::uint32_t kRows = 120;
  std::size_t gone = 0;
  std::size_t beside = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const CodeColumn codes = codes_in_chains(kRows, seed);
    const std::vector<Edge> edges = slow_edges(codes, kRows, 4);
    CounterRng rng = test_rng(seed);
    std::vector<bool> stubborn(kRows);
    for (std::uint32_t row = 0; row < kRows; ++row) stubborn[row] = rng.below(4) == 0;
    std::vector<std::uint32_t> order;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      if (rng.below(10) > 0) order.push_back(row);
    }
    std::shuffle(order.begin(), order.end(), std::minstd_rand(static_cast<unsigned>(seed)));
    std::vector<std::size_t> place(kRows, kRows);
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    const GoingRules rules{[&](std::uint32_t row, std::uint32_t) { return !stubborn[row]; }};
    const Stars stars = stars_of(nodes_of(kRows, edges), order, rules);
    const auto goes = [&](std::uint32_t row) { return stars.stands_for_row[row] != row; };
    for (std::uint32_t row = 0; row < kRows; ++row) {
      std::uint32_t expected = row;  // the most preferred row that stays and is linked to it
      for (std::uint32_t other = 0; other < kRows; ++other) {
        if (other == row || hamming(codes.code(row), codes.code(other)) > 4) continue;
        const bool stands = place[row] < kRows && place[other] < place[expected] && !goes(other);
        if (stands && !stubborn[row]) expected = other;
        beside += stands && stubborn[row] ? 1 : 0;
      }
      ASSERT_EQ(stars.stands_for_row[row], expected);
      ASSERT_EQ(stars.groups.of_row[row], stars.groups.of_row[expected]);
      gone += goes(row) ? 1 : 0;
    }
  }
  EXPECT_GT(gone, 1000U);
  EXPECT_GT(beside, 200U);
}

TEST(LinkedNodes, TellWhetherAllRowsAreLinked) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const CodeColumn codes = codes_in_chains(40, seed);
    const std::vector<Edge> edges = slow_edges(codes, 40, 4);
    const LinkedNodes nodes = nodes_of(40, edges);
    CounterRng rng = test_rng(seed);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::uint32_t> rows;
      const std::uint32_t first = rng.below(36);
      for (std::uint32_t row = first; row < first + 4; ++row) {
        if (rng.below(3) > 0) rows.push_back(row);
      }
      const auto is_linked = [&](std::uint32_t a, std::uint32_t b) {
        return hamming(codes.code(a), codes.code(b)) <= 4;
      };
      const bool all = std::ranges::all_of(rows, [&](std::uint32_t a) {
        return std::ranges::all_of(rows, [&](std::uint32_t b) { return is_linked(a, b); });
      });
      ASSERT_EQ(nodes.are_all_linked(rows), all);
    }
  }
}

TEST(ShapeOf, IsTheFurthestPair) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const CodeColumn codes = codes_in_chains(60, seed);
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < 60; row += 1 + static_cast<std::uint32_t>(seed % 3)) {
      rows.push_back(row);
    }
    std::uint32_t furthest = 0;
    for (const std::uint32_t a : rows) {
      for (const std::uint32_t b : rows) {
        furthest =
            std::max(furthest, static_cast<std::uint32_t>(hamming(codes.code(a), codes.code(b))));
      }
    }
    EXPECT_EQ(shape_of(codes, rows, 3).diameter, furthest);
    EXPECT_EQ(shape_of(codes, rows, static_cast<int>(furthest)).chain, false);
    EXPECT_EQ(shape_of(codes, rows, static_cast<int>(furthest) - 1).chain, true);
  }
  const CodeColumn line{"test", 1, 64, {0, 1, 3, 7}};
  EXPECT_EQ(shape_of(line, std::vector<std::uint32_t>{2}, 0).diameter, 0U);
  EXPECT_FALSE(shape_of(line, std::vector<std::uint32_t>{2}, 0).chain);
  EXPECT_TRUE(shape_of(line, std::vector<std::uint32_t>{0, 1, 2, 3}, 1).chain);
}

TEST(ConnectedComponents, OfNothingAreNone) {
  const Components none = connected_components(0, {});
  EXPECT_EQ(none.count, 0U);
  EXPECT_TRUE(members_of_groups(none).empty());
}

TEST(ConnectedComponents, SurviveAChainOfAMillion) {
  std::vector<Edge> chain;
  for (std::uint32_t row = 999'999; row > 0; --row) chain.push_back({row - 1, row, 1});
  EXPECT_EQ(connected_components(1'000'000, chain).count, 1U);
}

TEST(ChooseKept, TakesTheLatestSplitThenThePolicyThenTheLowestId) {
  const Fingerprints table = make_table({
      {.id = 1, .split = Split::kNone, .width_px = 900, .sharpness = 9},
      {.id = 2, .split = Split::kTrain, .width_px = 10, .sharpness = 5},
      {.id = 3, .split = Split::kTrain, .width_px = 20, .sharpness = 3},
      {.id = 4, .split = Split::kTrain, .width_px = 20, .sharpness = 5},
      {.id = 5, .split = Split::kVal, .width_px = 1, .sharpness = 0},
      {.id = 6, .split = Split::kTest, .width_px = 1, .sharpness = 0},
  });
  const auto kept = [&](std::vector<std::uint32_t> rows, KeepPolicy keep,
                        SplitOrder order = kEvaluationFirst) {
    return choose_kept(table, rows, {.keep = keep, .order = order});
  };
  for (const KeepPolicy policy :
       {KeepPolicy::kFirst, KeepPolicy::kLargest, KeepPolicy::kSharpest}) {
    EXPECT_EQ(kept({0, 1, 2, 3, 4, 5}, policy), 5U);
    EXPECT_EQ(kept({0, 1, 2, 3, 4}, policy), 4U);
    EXPECT_EQ(kept({0, 3}, policy), 3U);
    EXPECT_EQ(kept({0}, policy), 0U);
  }
  EXPECT_EQ(kept({0, 1, 2, 3}, KeepPolicy::kFirst), 1U);
  EXPECT_EQ(kept({0, 1, 2, 3}, KeepPolicy::kLargest), 2U);
  EXPECT_EQ(kept({0, 2, 3}, KeepPolicy::kSharpest), 3U);
  EXPECT_EQ(kept({0, 1, 2, 3}, KeepPolicy::kSharpest), 1U);
  EXPECT_EQ(kept({0, 1, 2, 3, 4, 5}, KeepPolicy::kLargest, kTrainingFirst), 2U);
  EXPECT_EQ(kept({0, 4, 5}, KeepPolicy::kLargest, kTrainingFirst), 4U);
  EXPECT_EQ(kept({0, 1, 4, 5}, KeepPolicy::kLargest, {Split::kVal, Split::kTest, Split::kTrain}),
            4U);
}

TEST(ChooseKept, LargestIsOfTheGreatestArea) {
  Fingerprints table = make_table({{.id = 1, .width_px = 300}, {.id = 2, .width_px = 100}});
  table.heights_px = {10, 100};
  EXPECT_EQ(choose_kept(table, std::vector<std::uint32_t>{0, 1}, {.keep = KeepPolicy::kLargest}),
            1U);
}

TEST(ChooseKept, OneThatIsLabelledAsMostAre) {
  const Fingerprints table = make_table({
      {.id = 1, .labels = {7}},
      {.id = 2, .labels = {1, 2}},
      {.id = 3, .labels = {}},
      {.id = 4, .labels = {2, 1, 1}},
      {.id = 5, .labels = {}},
      {.id = 6, .labels = {}},
      {.id = 7, .split = Split::kVal, .labels = {7}},
      {.id = 8, .split = Split::kVal, .labels = {1, 2}},
  });
  const auto kept = [&](std::vector<std::uint32_t> rows) {
    return choose_kept(table, rows, {.keep = KeepPolicy::kMajority});
  };
  EXPECT_EQ(kept({0, 1, 3}), 1U);
  EXPECT_EQ(kept({0, 1}), 0U);        // a tie: the lowest id
  EXPECT_EQ(kept({0, 2, 4, 5}), 0U);  // rows without labels do not vote
  EXPECT_EQ(kept({2, 4}), 2U);
  EXPECT_EQ(kept({0, 1, 3, 6, 7}), 7U);  // from the split that is used last
}

TEST(ChooseKept, TheMedoidIsNearestToAllOthers) {
  const Policy medoid{.keep = KeepPolicy::kMedoid};
  for (const char* hash : {"phash", "phash_mirrored"}) {
    CounterRng rng = test_rng(11);
    std::vector<TestImage> images(40);
    for (std::size_t i = 0; i < images.size(); ++i) images[i].id = i + 1;
    Fingerprints table = make_table(images);
    CodeColumn& codes = table.codes.front();
    const int orientations = std::string_view(hash) == "phash" ? 1 : 2;
    codes = empty_codes(hash, codes.version, 64 * orientations);
    for (std::size_t w = 0; w < images.size() * codes.words_per_code(); ++w) {
      codes.words.push_back(rng.next_u64() & rng.next_u64());
    }
    for (std::uint32_t first = 0; first < 30; ++first) {
      std::vector<std::uint32_t> rows;
      for (std::uint32_t row = first; row < images.size(); row += 1 + first % 3)
        rows.push_back(row);
      const auto sum = [&](std::uint32_t row) {
        int bits = 0;
        for (const std::uint32_t other : rows) bits += row_distance(codes, row, other);
        return bits;
      };
      // Among equal elements min_element gives the first, which has the lowest id.
      EXPECT_EQ(choose_kept(table, rows, medoid), *std::ranges::min_element(rows, {}, sum));
    }
  }
  Fingerprints line =
      make_table({{.id = 1, .code = 0}, {.id = 2, .code = 1}, {.id = 3, .code = 3}});
  EXPECT_EQ(choose_kept(line, std::vector<std::uint32_t>{0, 1, 2}, medoid), 1U);
  EXPECT_EQ(choose_kept(line, std::vector<std::uint32_t>{0, 2}, medoid), 0U) << "as near";
  line.splits[2] = Split::kVal;
  EXPECT_EQ(choose_kept(line, std::vector<std::uint32_t>{0, 1, 2}, medoid), 2U) << "splits first";
  line.codes.clear();
  EXPECT_EQ(choose_kept(line, std::vector<std::uint32_t>{0, 1}, medoid), 0U) << "nothing compared";
  EXPECT_EQ(parse_keep_policy("medoid"), KeepPolicy::kMedoid);
  EXPECT_EQ(columns_for(KeepPolicy::kMedoid, "codes:pdq"), ColumnNames{"codes:pdq"});
  EXPECT_EQ(columns_for(KeepPolicy::kMedoid, ""), ColumnNames{});
}

TEST(ChooseKept, ComparesSidesBeyond32Bits) {
  Fingerprints table = make_table({{.id = 1, .width_px = 65537}, {.id = 2, .width_px = 65536}});
  table.heights_px = {65536, 65537};  // equal areas above 2^32: the lower id
  const Policy largest{.keep = KeepPolicy::kLargest};
  EXPECT_EQ(choose_kept(table, std::vector<std::uint32_t>{0, 1}, largest), 0U);
  table.heights_px = {65536, 65538};
  EXPECT_EQ(choose_kept(table, std::vector<std::uint32_t>{0, 1}, largest), 1U);
}

const std::vector<Split> kOneOfEach{Split::kTrain, Split::kVal, Split::kTest, Split::kNone,
                                    Split::kTest};
const std::vector<std::uint32_t> kRows{0, 1, 2, 3, 4};

TEST(SettleLeak, LeavesOneSplitAndThoseOfNone) {
  EXPECT_THAT(
      settle_leak(kOneOfEach, kRows, 2, {}),
      ElementsAre(Fate{Split::kTrain, 0, 2, Rule::kLeak}, Fate{Split::kVal, 0, 2, Rule::kLeak},
                  Fate{Split::kTest, 1, 2, Rule::kKept}, Fate{Split::kNone, 1, 3, Rule::kKept},
                  Fate{Split::kTest, 1, 4, Rule::kKept}));
  EXPECT_THAT(
      settle_leak(kOneOfEach, kRows, 0, {.order = kTrainingFirst}),
      ElementsAre(Fate{Split::kTrain, 1, 0, Rule::kKept}, Fate{Split::kVal, 0, 0, Rule::kLeak},
                  Fate{Split::kTest, 0, 0, Rule::kLeak}, Fate{Split::kNone, 1, 3, Rule::kKept},
                  Fate{Split::kTest, 0, 0, Rule::kLeak}));
}

TEST(SettleLeak, MovesToWhereMostAre) {
  const Policy move{.on_leak = LeakAction::kMove};
  EXPECT_THAT(
      settle_leak(kOneOfEach, kRows, 2, move),
      ElementsAre(Fate{Split::kTest, 1, 0, Rule::kMoved}, Fate{Split::kTest, 1, 1, Rule::kMoved},
                  Fate{Split::kTest, 1, 2, Rule::kKept}, Fate{Split::kNone, 1, 3, Rule::kKept},
                  Fate{Split::kTest, 1, 4, Rule::kKept}));
  const std::vector<std::uint32_t> equal{0, 1};
  EXPECT_THAT(
      settle_leak(kOneOfEach, equal, 1, move),
      ElementsAre(Fate{Split::kVal, 1, 0, Rule::kMoved}, Fate{Split::kVal, 1, 1, Rule::kKept}));
  EXPECT_THAT(
      settle_leak(kOneOfEach, equal, 0, {.on_leak = LeakAction::kMove, .order = kTrainingFirst}),
      ElementsAre(Fate{Split::kTrain, 1, 0, Rule::kKept}, Fate{Split::kTrain, 1, 1, Rule::kMoved}));
}

TEST(ThinGroup, LetsEvaluationBe) {
  const std::vector<Split> splits{Split::kTest, Split::kNone, Split::kTest};
  const std::vector<std::uint32_t> rows{0, 1, 2};
  for (const SelectionMode mode :
       {SelectionMode::kKeep, SelectionMode::kWeight, SelectionMode::kOnePerGroup}) {
    EXPECT_THAT(
        thin_group(splits, rows, 0, false, true, {.mode = mode}),
        ElementsAre(Fate{Split::kTest, 1, 0, Rule::kKept}, Fate{Split::kNone, 0, 0, Rule::kLeak},
                    Fate{Split::kTest, 1, 2, Rule::kKept}));
  }
  EXPECT_THAT(
      thin_group(splits, rows, 0, false, false, {}),
      ElementsAre(Fate{Split::kTest, 1, 0, Rule::kKept}, Fate{Split::kNone, 1, 1, Rule::kKept},
                  Fate{Split::kTest, 1, 2, Rule::kKept}));
}

TEST(ThinGroup, ThinsEvaluationOnRequest) {
  const std::vector<Split> splits{Split::kNone, Split::kVal, Split::kVal, Split::kVal};
  const std::vector<std::uint32_t> rows{0, 1, 2, 3};
  Policy policy;
  policy.thin[static_cast<std::size_t>(Split::kVal)] = true;
  for (const SelectionMode mode : {SelectionMode::kKeep, SelectionMode::kWeight}) {
    policy.mode = mode;
    EXPECT_THAT(
        thin_group(splits, rows, 2, false, true, policy),
        ElementsAre(Fate{Split::kNone, 0, 2, Rule::kLeak},
                    Fate{Split::kVal, 0, 2, Rule::kDuplicate}, Fate{Split::kVal, 1, 2, Rule::kKept},
                    Fate{Split::kVal, 0, 2, Rule::kDuplicate}));
  }
  policy.thin = {};
  policy.thin[static_cast<std::size_t>(Split::kTest)] = true;
  EXPECT_EQ(thin_group(splits, rows, 2, false, true, policy)[1].weight, 1);
}

TEST(ThinGroup, KeepsOneTrainingSampleOrLetsThemShareOrTakeTurns) {
  const std::vector<Split> splits{Split::kNone, Split::kTrain, Split::kTrain};
  const std::vector<std::uint32_t> rows{0, 1, 2};
  const Fate none{Split::kNone, 0, 1, Rule::kDuplicate};
  const auto fates = [&](const Policy& policy, bool conflict) {
    return thin_group(splits, rows, 1, conflict, true, policy);
  };
  const auto two = [&](float first, float second) {
    return std::vector<Fate>{
        none, {Split::kTrain, first, 1, Rule::kKept}, {Split::kTrain, second, 1, Rule::kDuplicate}};
  };
  const Policy weigh_conflicts{.on_conflict = ConflictAction::kWeight};
  EXPECT_EQ(fates({}, false), two(1, 0));
  EXPECT_EQ(fates({}, true), two(1, 0));
  EXPECT_EQ(fates({.mode = SelectionMode::kWeight}, false), two(0.5, 0.5));
  EXPECT_EQ(fates({.mode = SelectionMode::kOnePerGroup}, false), two(1, 1));
  EXPECT_EQ(fates(weigh_conflicts, false), two(1, 0));
  EXPECT_EQ(fates(weigh_conflicts, true), two(0.5, 0.5));
  Policy turns = weigh_conflicts;
  turns.mode = SelectionMode::kOnePerGroup;
  EXPECT_EQ(fates(turns, true), two(1, 1)) << "turns weigh already";
  EXPECT_THAT(fates({.on_conflict = ConflictAction::kDrop}, true),
              ElementsAre(Fate{Split::kNone, 0, 0, Rule::kConflict},
                          Fate{Split::kTrain, 0, 1, Rule::kConflict},
                          Fate{Split::kTrain, 0, 2, Rule::kConflict}));
  EXPECT_THAT(
      thin_group(splits, rows, 1, true, false, weigh_conflicts),
      ElementsAre(Fate{Split::kNone, 1, 0, Rule::kKept}, Fate{Split::kTrain, 0.5, 1, Rule::kKept},
                  Fate{Split::kTrain, 0.5, 1, Rule::kDuplicate}));
}

TEST(LabelsDiffer, ComparesSetsAndLetsTheUnlabelledBe) {
  Ragged<std::int32_t> labels;
  for (const std::vector<std::int32_t>& row :
       std::vector<std::vector<std::int32_t>>{{1, 2}, {2, 1, 1}, {}, {1}, {1}}) {
    labels.push_back(row);
  }
  const auto differ = [&](std::vector<std::uint32_t> rows) { return labels_differ(labels, rows); };
  EXPECT_FALSE(differ({0, 1}));
  EXPECT_FALSE(differ({0, 2}));
  EXPECT_FALSE(differ({2, 3, 4}));
  EXPECT_TRUE(differ({0, 3}));
  EXPECT_TRUE(differ({2, 1, 4}));
}

TEST(CountLeaks, CountsGroupsAndSamplesPairByPair) {
  // Component 0: two train, one val, three test. 1: train alone. 2: none and test. 3: val and test.
  const Components components{{0, 0, 0, 0, 0, 0, 1, 2, 2, 3, 3}, 4};
  const std::vector<Split> splits{Split::kTrain, Split::kTrain, Split::kVal,   Split::kTest,
                                  Split::kTest,  Split::kTest,  Split::kTrain, Split::kNone,
                                  Split::kTest,  Split::kVal,   Split::kTest};
  EXPECT_THAT(count_leaks(components, splits),
              ElementsAre(LeakCount{Split::kTrain, Split::kVal, 1, 1},
                          LeakCount{Split::kTrain, Split::kTest, 1, 3},
                          LeakCount{Split::kVal, Split::kTest, 2, 4}));
  EXPECT_TRUE(is_leak(splits, std::vector<std::uint32_t>{9, 10}));
  EXPECT_FALSE(is_leak(splits, std::vector<std::uint32_t>{7, 8}));
  EXPECT_FALSE(is_leak(splits, std::vector<std::uint32_t>{0, 1, 6}));
}

TEST(CountLeaks, FindsNoneWithoutSplits) {
  const Components components{{0, 0, 0}, 1};
  EXPECT_TRUE(count_leaks(components, std::vector<Split>(3, Split::kNone)).empty());
  EXPECT_TRUE(count_leaks(components, std::vector<Split>(3, Split::kTest)).empty());
}

TEST(Policies, AreReadByName) {
  for (const KeepPolicy policy :
       {KeepPolicy::kFirst, KeepPolicy::kLargest, KeepPolicy::kSharpest, KeepPolicy::kMajority}) {
    EXPECT_EQ(parse_keep_policy(keep_policy_name(policy)), policy);
  }
  for (const LeakAction action : {LeakAction::kDrop, LeakAction::kMove}) {
    EXPECT_EQ(parse_leak_action(leak_action_name(action)), action);
  }
  for (const ConflictAction action :
       {ConflictAction::kKeep, ConflictAction::kDrop, ConflictAction::kWeight}) {
    EXPECT_EQ(parse_conflict_action(conflict_action_name(action)), action);
  }
  for (const GroupKind kind : {GroupKind::kComponents, GroupKind::kStars, GroupKind::kCliques}) {
    EXPECT_EQ(parse_group_kind(group_kind_name(kind)), kind);
  }
  EXPECT_THROW(parse_keep_policy("First"), UsageError);
  EXPECT_THROW(parse_keep_policy(""), UsageError);
  EXPECT_THROW(parse_leak_action("fail"), UsageError);
  EXPECT_THROW(parse_conflict_action("majority"), UsageError);
  EXPECT_THROW(parse_group_kind("clique"), UsageError);
}

}  // namespace winnow::dedup::decide_test
