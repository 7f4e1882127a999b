#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "dedup/cluster/cluster.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/sweep/control.h"
#include "dedup/sweep/nearest.h"
#include "dedup/sweep/points.h"
#include "dedup/sweep/remains.h"
#include "dedup/sweep/trim.h"
#include "dedup/verify/verified_links.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::sweep_test {

using ::testing::ElementsAre;

std::vector<std::string> names_of(const std::vector<SweepPoint>& points) {
  std::vector<std::string> names;
  for (const SweepPoint& point : points) names.push_back(name_of(point));
  return names;
}

TEST(SweepPoints, AreAllOfTheAxesOnce) {
  EXPECT_THAT(
      names_of(points_of({.hashes = {"phash", "ahash"}, .thresholds = {6, 4, 6}})),
      ElementsAre("all", "phash-t4-first", "phash-t6-first", "ahash-t4-first", "ahash-t6-first"));
  // A share of 0 is the point that removes nothing. Keep policies matter only if samples are
  // removed.
  const SweepAxes modes{
      .removed = {0, 0.25, 0.125},
      .keeps = {KeepPolicy::kFirst, KeepPolicy::kLargest},
      .modes = {SelectionMode::kKeep, SelectionMode::kWeight, SelectionMode::kOnePerGroup}};
  EXPECT_THAT(names_of(points_of(modes)),
              ElementsAre("all", "phash-r12.5-first", "phash-r25-first", "phash-r12.5-largest",
                          "phash-r25-largest", "phash-r12.5-weight", "phash-r25-weight",
                          "phash-r12.5-one_per_group", "phash-r25-one_per_group"));
  const std::vector<SweepPoint> points = points_of(modes);
  EXPECT_FALSE(points.front().thins());
  EXPECT_TRUE(std::ranges::all_of(points, [](const SweepPoint& point) {
    return !point.thins() || point.threshold.has_value() != point.removed.has_value();
  }));
}

TEST(SweepPoints, ByPicturesComeLastAndAreOneOfEachWay) {
  const SweepAxes axes{.hashes = {"phash", "ahash"},
                       .removed = {0.25},
                       .keeps = {KeepPolicy::kFirst, KeepPolicy::kLargest},
                       .modes = {SelectionMode::kKeep, SelectionMode::kWeight},
                       .pictures = true};
  const std::vector<SweepPoint> points = points_of(axes);
  EXPECT_THAT(names_of(points),
              ElementsAre("all", "phash-r25-first", "phash-r25-largest", "phash-r25-weight",
                          "ahash-r25-first", "ahash-r25-largest", "ahash-r25-weight",
                          "pictures-first", "pictures-largest", "pictures-weight"));
  EXPECT_TRUE(points.back().by_pictures() && points.back().thins());
  EXPECT_FALSE(points[1].by_pictures() || points[0].by_pictures());
  EXPECT_THAT(names_of(points_of({.pictures = true})), ElementsAre("all", "pictures-first"));
}

TEST(SweepPoints, WhatMakesNoSenseIsRefused) {
  EXPECT_THROW(points_of({}), UsageError);
  EXPECT_THROW(points_of({.hashes = {}, .thresholds = {4}}), UsageError);
  EXPECT_THROW(points_of({.hashes = {"none"}, .thresholds = {4}}), UsageError);
  EXPECT_THROW(points_of({.thresholds = {65}}), UsageError);
  EXPECT_THROW(points_of({.thresholds = {-1}}), UsageError);
  EXPECT_THROW(points_of({.removed = {1}}), UsageError);
  EXPECT_THROW(points_of({.removed = {-0.1}}), UsageError);
  EXPECT_THROW(points_of({.removed = {std::nan("")}}), UsageError);
}

// Groups of up to six near images, and single images. Class sizes vary; some images are val.
Fingerprints world(std::uint64_t seed) {
  CounterRng rng = test_rng(seed);
  std::vector<TestImage> images;
  for (std::uint64_t group = 0; group < 60; ++group) {
    const std::uint64_t code = rng.next_u64();
    const auto members = 1 + rng.below(6);
    const auto label = static_cast<std::int32_t>(std::min(rng.below(4), rng.below(4)));
    const Split split = rng.below(8) == 0 ? Split::kVal : Split::kTrain;
    for (std::uint32_t i = 0; i < members; ++i) {
      const std::uint64_t number = images.size() + 1;
      images.push_back({.id = number,
                        .split = split,
                        .labels = {label},
                        .code = code ^ random_flips(rng, static_cast<int>(rng.below(4))),
                        .file = number,
                        .pixels = number});
    }
  }
  return make_table(images);
}

Selection thin(const Fingerprints& table, SelectionMode mode) {
  return deduplicate(
             table,
             {.hash = "phash", .threshold = 6, .scope = Scope::kWithin, .policy = {.mode = mode}})
      .selection;
}

double weight_of(const Selection& selection) {
  double sum = 0;
  for (const float weight : selection.weights) sum += weight;
  return sum;
}

TEST(Trim, ThinsExactlySoManyAndTheNearest) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Fingerprints table = world(seed);
    const Selection full = thin(table, SelectionMode::kKeep);
    const std::uint64_t most = count_thinned(full);
    ASSERT_GT(most, 20U);
    std::set<SampleId> before;
    std::uint16_t furthest = 0;
    for (std::uint64_t count = 0; count <= most; count += 7) {
      const Selection trimmed = trim(full, count, 3);
      check_selection(trimmed, "trimmed");
      EXPECT_EQ(count_thinned(trimmed), count);
      EXPECT_EQ(weight_of(trimmed), static_cast<double>(table.size() - count));
      std::set<SampleId> thinned;
      std::uint16_t now = 0;
      for (std::size_t row = 0; row < trimmed.size(); ++row) {
        EXPECT_EQ(trimmed.components[row], full.components[row]);
        if (trimmed.rules[row] != Rule::kDuplicate) continue;
        EXPECT_EQ(trimmed.kept[row], full.kept[row]);
        thinned.insert(trimmed.ids[row]);
        now = std::max(now, trimmed.distances[row]);
      }
      EXPECT_TRUE(std::ranges::includes(thinned, before)) << "less is among more";
      EXPECT_GE(now, furthest);
      before = thinned;
      furthest = now;
    }
    EXPECT_EQ(trim(full, most, 3), full);
    EXPECT_EQ(trim(full, most + 5, 3), full);
    EXPECT_NE(trim(full, most / 2, 3), trim(full, most / 2, 4)) << "of equals a draw decides";
  }
}

TEST(Trim, SharesWeightsAndTurnsAmongThoseLeftOfAGroup) {
  const Fingerprints table = world(1);
  const Selection full = thin(table, SelectionMode::kWeight);
  const std::uint64_t most = count_thinned(full);
  for (const std::uint64_t count : {std::uint64_t{0}, most / 3, most / 2, most}) {
    const Selection trimmed = trim(full, count, 1);
    check_selection(trimmed, "trimmed");
    // Each group weighs as one sample, so the sum equals that of removing as many.
    EXPECT_NEAR(weight_of(trimmed), static_cast<double>(table.size() - count), 1e-3);
    std::map<SampleId, double> weight_of_group;
    for (std::size_t row = 0; row < trimmed.size(); ++row) {
      weight_of_group[trimmed.kept[row]] += trimmed.weights[row];
    }
    for (const auto& [kept, weight] : weight_of_group) EXPECT_NEAR(weight, 1, 1e-5) << kept;
  }
  const Selection turns = trim(thin(table, SelectionMode::kOnePerGroup), most / 2, 1);
  std::set<SampleId> places(turns.kept.begin(), turns.kept.end());
  EXPECT_EQ(places.size(), table.size() - most / 2);
  EXPECT_EQ(weight_of(turns), static_cast<double>(table.size())) << "all are seen";
}

std::vector<Edge> random_links(CounterRng& rng, std::uint32_t rows, int count) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> links;
  for (int i = 0; i < count; ++i) {
    const auto [a, b] = std::minmax({rng.below(rows), rng.below(rows)});
    if (a != b) links[{a, b}] = rng.below(6);
  }
  std::vector<Edge> out;
  for (const auto& [rows_of_link, distance] : links) {
    out.push_back({rows_of_link.first, rows_of_link.second, distance});
  }
  return out;
}

std::vector<SampleId> ids_from_1(std::uint32_t rows) {
  std::vector<SampleId> ids(rows);
  std::iota(ids.begin(), ids.end(), SampleId{1});
  return ids;
}

// For every threshold, the links within it give the same components as all links within it, with
// none to spare.
TEST(NearestLinks, JoinWhatAllWithinAnyThresholdJoin) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CounterRng rng = test_rng(seed);
    const std::uint32_t rows = 2 + rng.below(60);
    const std::vector<Edge> links = random_links(rng, rows, static_cast<int>(rng.below(200)));
    const std::vector<SampleId> ids = ids_from_1(rows);
    NearestLinks nearest(ids, 0);
    nearest.add(links);
    const std::vector<Edge> forest = std::move(nearest).finish();
    EXPECT_TRUE(std::ranges::is_sorted(forest, {}, &Edge::distance));
    for (std::uint32_t threshold = 0; threshold < 6; ++threshold) {
      const auto within = [&](std::vector<Edge> of) {
        std::erase_if(of, [&](const Edge& link) { return link.distance > threshold; });
        return of;
      };
      const Components all = connected_components(rows, within(links));
      EXPECT_EQ(connected_components(rows, within(forest)).of_row, all.of_row);
      EXPECT_EQ(within(forest).size(), rows - all.count);
    }
  }
}

TEST(NearestLinks, DependOnNoOrderAndNoBatches) {
  CounterRng rng = test_rng(7);
  const std::uint32_t rows = 300;
  std::vector<Edge> links = random_links(rng, rows, 4000);
  const std::vector<SampleId> ids = ids_from_1(rows);
  const auto forest_of = [&](std::size_t batch, std::uint64_t seed) {
    NearestLinks nearest(ids, seed);
    for (std::size_t i = 0; i < links.size(); i += batch) {
      nearest.add(std::span(links).subspan(i, std::min(batch, links.size() - i)));
    }
    return std::move(nearest).finish();
  };
  const std::vector<Edge> forest = forest_of(links.size(), 0);
  EXPECT_NE(forest_of(links.size(), 1), forest) << "of equals a draw decides";
  for (std::size_t i = links.size(); i > 1; --i) {
    std::swap(links[i - 1], links[rng.below(static_cast<std::uint32_t>(i))]);
    std::swap(links[i - 1].a, links[i - 1].b);
  }
  EXPECT_EQ(forest_of(7, 0), forest);
}

// More links than are buffered at once.
TEST(NearestLinks, OfManyLinksForgetNone) {
  const std::uint32_t rows = 3000;
  const std::vector<SampleId> ids = ids_from_1(rows);
  NearestLinks nearest(ids, 0);
  std::vector<Edge> batch;
  std::uint64_t count = 0;
  for (std::uint32_t a = 0; a < rows; ++a) {
    batch.clear();
    // Only the neighbour is near, and it comes among many others.
    for (std::uint32_t b = a + 1; b < rows; ++b) batch.push_back({a, b, b == a + 1 ? 1U : 2U});
    count += batch.size();
    nearest.add(batch);
  }
  ASSERT_GT(count, 4'000'000U);
  const std::vector<Edge> forest = std::move(nearest).finish();
  ASSERT_EQ(forest.size(), rows - 1);
  EXPECT_TRUE(std::ranges::all_of(forest, [](const Edge& link) { return link.distance == 1; }));
}

// A chain of pictures, each 6 bits from the next, and a copy of each 2 bits away. A threshold of 6
// joins them all at once. Choosing the links nearest to the kept image would remove few copies.
TEST(NearestLinks, ThinAnyNumberTheNearestPairsFirst) {
  std::vector<TestImage> images;
  std::uint64_t code = 0;
  for (std::uint64_t i = 0; i < 10; ++i) {
    code ^= std::uint64_t{0x3f} << (6 * i);
    for (const std::uint64_t away : {std::uint64_t{0}, std::uint64_t{3} << 62}) {
      const std::uint64_t number = images.size() + 1;
      images.push_back({.id = number, .code = code ^ away, .file = number, .pixels = number});
    }
  }
  const Fingerprints table = make_table(images);
  const ColumnSource columns = [&](const ColumnNames&) { return table; };
  const Options how{.hash = "phash", .threshold = 6, .scope = Scope::kWithin};
  ASSERT_EQ(count_thinned(deduplicate(columns, how).selection), 19U);
  std::vector<std::uint32_t> rows(table.size());
  std::iota(rows.begin(), rows.end(), 0U);
  NearestLinks nearest(table.ids, 0);
  nearest.add(edges_within(table.codes.front(), rows, 6));
  const std::vector<Edge> links = std::move(nearest).finish();
  ASSERT_EQ(links.size(), 19U);
  for (std::size_t count = 0; count <= links.size(); ++count) {
    const Selection thinned =
        deduplicate(columns, how, links_of(std::span(links).first(count))).selection;
    EXPECT_EQ(count_thinned(thinned), count);
    std::size_t copies = 0;  // pairs of which only one stays
    for (std::size_t row = 0; row < table.size(); row += 2) {
      copies += thinned.weights[row] == 0 || thinned.weights[row + 1] == 0 ? 1 : 0;
    }
    EXPECT_EQ(copies, std::min<std::size_t>(count, 10));
  }
}

TEST(NearestLinks, OfEqualsPreferNoRows) {
  const std::uint32_t rows = 2000;
  std::vector<Edge> links;
  for (std::uint32_t a = 0; a < rows; a += 2) links.push_back({a, a + 1, 3});
  const std::vector<SampleId> ids = ids_from_1(rows);
  NearestLinks nearest(ids, 0);
  nearest.add(links);
  const std::vector<Edge> forest = std::move(nearest).finish();
  double low = 0;  // links in the first half whose rows are in the first half
  for (std::size_t i = 0; i < forest.size() / 2; ++i) low += forest[i].a < rows / 2 ? 1 : 0;
  EXPECT_NEAR(low, 250, 5 * std::sqrt(125.0));
}

TEST(Control, RemovesAsManyOfEachClassFromTrain) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Fingerprints table = world(seed);
    const Selection base = keep_all(table.ids);
    const ClassCounts counts = thinned_by_class(thin(table, SelectionMode::kKeep), table);
    const Selection control = draw_control(base, table, counts, 5);
    check_selection(control, "control");
    const ClassCounts before = kept_by_class(base, table);
    const ClassCounts after = kept_by_class(control, table);
    for (const auto& [labels, count] : before) {
      const std::uint64_t removed = counts.contains(labels) ? counts.at(labels) : 0;
      EXPECT_EQ(count - (after.contains(labels) ? after.at(labels) : 0), removed);
    }
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.splits[row] != Split::kTrain) {
        EXPECT_EQ(control.weights[row], 1);
      }
    }
    EXPECT_EQ(draw_control(base, table, counts, 5), control);
    EXPECT_NE(draw_control(base, table, counts, 6), control);
  }
}

TEST(Control, OfLessIsAmongThatOfMore) {
  const Fingerprints table = world(2);
  const Selection base = keep_all(table.ids);
  const Selection full = thin(table, SelectionMode::kKeep);
  const Selection more = draw_control(base, table, thinned_by_class(full, table), 1);
  const Selection less =
      draw_control(base, table, thinned_by_class(trim(full, count_thinned(full) / 2, 1), table), 1);
  for (std::size_t row = 0; row < table.size(); ++row) {
    EXPECT_LE(more.weights[row], less.weights[row]);
  }
}

// Over many seeds, all samples of a class are drawn equally often.
TEST(Control, DrawsEvenly) {
  std::vector<TestImage> images;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    images.push_back({.id = i, .labels = {i <= 10 ? 0 : 1}, .file = i, .pixels = i});
  }
  const Fingerprints table = make_table(images);
  std::vector<int> removed(20);
  constexpr int kDraws = 2000;
  for (int seed = 0; seed < kDraws; ++seed) {
    const Selection control = draw_control(keep_all(table.ids), table, {{{0}, 3}, {{1}, 5}},
                                           static_cast<std::uint64_t>(seed));
    for (std::size_t row = 0; row < 20; ++row) removed[row] += control.weights[row] > 0 ? 0 : 1;
  }
  for (std::size_t row = 0; row < 20; ++row) {
    const double share = row < 10 ? 0.3 : 0.5;
    EXPECT_NEAR(removed[row], kDraws * share, 4 * std::sqrt(kDraws * share * (1 - share))) << row;
  }
}

TEST(Control, OfAClassThatHasNotSoManyIsRefused) {
  const Fingerprints table = world(1);
  EXPECT_THROW(draw_control(keep_all(table.ids), table, {{{0}, 10'000}}, 1), UsageError);
  EXPECT_THROW(draw_control(keep_all(table.ids), table, {{{17}, 1}}, 1), UsageError);
}

TEST(Control, IsSharedByRemovalsThatAreAlike) {
  const std::vector<ClassCounts> removals{{{{0}, 100}, {{1}, 100}},
                                          {{{0}, 102}, {{1}, 98}},
                                          {{{0}, 150}, {{1}, 50}},
                                          {{{0}, 148}, {{1}, 52}},
                                          {{{0}, 50}, {{1}, 50}}};
  EXPECT_NEAR(counts_apart(removals[0], removals[1]), 0.01, 1e-12);
  EXPECT_NEAR(counts_apart(removals[0], removals[4]), 0.5, 1e-12) << "size is not shared";
  EXPECT_EQ(counts_apart({}, {}), 0);
  EXPECT_EQ(counts_apart({{{0}, 5}}, {{{1}, 5}}), 1);
  EXPECT_THAT(share_controls(removals, 0.02), ElementsAre(0, 0, 2, 2, 4));
  EXPECT_THAT(share_controls(removals, 0), ElementsAre(0, 1, 2, 3, 4));
}

// Leaks and conflicts, by comparing all pairs of rows.
Remains remains_by_pairs(const Selection& selection, const Fingerprints& table,
                         const std::vector<std::uint32_t>& duplicates) {
  const auto trains = [&](std::size_t row) {
    return selection.split_of(row, table.splits[row]) == Split::kTrain &&
           selection.weights[row] > 0;
  };
  Remains remains;
  std::set<std::uint32_t> conflicts;
  for (std::uint32_t a = 0; a < table.size(); ++a) {
    bool leaks = false;
    for (std::uint32_t b = 0; b < table.size(); ++b) {
      if (duplicates[a] != duplicates[b] || !trains(b)) continue;
      leaks |= table.splits[a] == Split::kTest;
      if (trains(a) && label_set(table.labels, a) != label_set(table.labels, b)) {
        conflicts.insert(duplicates[a]);
      }
    }
    remains.leaks += leaks ? 1 : 0;
  }
  remains.conflicts = conflicts.size();
  return remains;
}

TEST(Remains, AreLeaksAndConflictsOfWhatIsTrainedOn) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Fingerprints table = world(seed);
    CounterRng rng = test_rng(100 + seed);
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.splits[row] == Split::kVal) table.splits[row] = Split::kTest;
      if (rng.below(5) == 0) table.labels.values[row] = static_cast<std::int32_t>(rng.below(4));
      if (rng.below(9) == 0) table.splits[row] = Split::kTest;
    }
    const Selection all = keep_all(table.ids);
    const std::vector<std::uint32_t> duplicates = thin(table, SelectionMode::kKeep).components;
    const Remains before = remains_of(all, table, duplicates);
    EXPECT_EQ(before, remains_by_pairs(all, table, duplicates));
    EXPECT_GT(before.leaks, 5U);
    EXPECT_GT(before.conflicts, 5U);
    const Selection control =
        draw_control(all, table, thinned_by_class(thin(table, SelectionMode::kKeep), table), seed);
    const Remains after = remains_of(control, table, duplicates);
    EXPECT_EQ(after, remains_by_pairs(control, table, duplicates));
    EXPECT_LT(after.conflicts, before.conflicts);
    EXPECT_LE(after.leaks, before.leaks);
  }
}

TEST(Control, SaysWhichClassesVanish) {
  EXPECT_THAT(vanished({{{0}, 5}, {{1}, 3}, {{2}, 0}}, {{{0}, 1}}),
              ElementsAre(std::vector<std::int32_t>{1}));
}

}  // namespace winnow::dedup::sweep_test
