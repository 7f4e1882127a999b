#include "dedup/tune/curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/error.h"
#include "common/rng.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/hash/hashes.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::curve_test {

Fingerprints table_of_codes(const std::vector<std::uint64_t>& codes) {
  std::vector<TestImage> images;
  for (const std::uint64_t code : codes) {
    const std::uint64_t number = images.size();
    images.push_back({.id = number, .code = code, .file = number, .pixels = number});
  }
  return make_table(images);
}

// Images with random codes, and copies of some of them a few bits away. All copies but one in
// twenty have the class of their original.
struct Planted {
  Fingerprints table;
  std::uint64_t copies = 0;
};

Planted planted(std::size_t originals, std::size_t copies, int classes, int most_bits) {
  CounterRng rng(7, 0, 0, RandomUse::kTest);
  std::vector<std::uint64_t> codes;
  std::vector<std::int32_t> labels;
  const auto add = [&](std::uint64_t code, std::int32_t label) {
    codes.push_back(code);
    labels.push_back(label);
  };
  const auto below = [&rng](std::uint32_t n) { return rng.next_u32() % n; };
  for (std::size_t i = 0; i < originals; ++i) {
    add(std::uint64_t{rng.next_u32()} << 32 | rng.next_u32(),
        static_cast<std::int32_t>(below(static_cast<std::uint32_t>(classes))));
  }
  for (std::size_t i = 0; i < copies; ++i) {
    std::uint64_t code = codes[i];
    const auto flips = below(static_cast<std::uint32_t>(most_bits) + 1);
    for (std::uint32_t f = 0; f < flips; ++f) code ^= std::uint64_t{1} << below(64);
    add(code, labels[i]);
  }
  Planted made;
  made.table = table_of_codes(codes);
  made.table.labels = {};
  for (const std::int32_t label : labels) made.table.labels.push_back(std::span(&label, 1));
  made.copies = copies;
  return made;
}

Curve curve_of(const Fingerprints& table, const CurveOptions& options) {
  return measure_curve([&](const ColumnNames& names) { return select_columns(table, names); },
                       options);
}

// Compares with counts over every pair.
void expect_counts(const Fingerprints& table, const Curve& curve) {
  const CodeColumn& codes = *table.find_codes(curve.hash);
  std::vector<std::uint64_t> pairs(curve.points.size());
  std::vector<std::uint64_t> other(curve.points.size());
  for (std::size_t a = 0; a < table.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (!(table.quality[a] > 0) || !(table.quality[b] > 0)) continue;
      const auto distance = static_cast<std::size_t>(
          row_distance(codes, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
      if (distance >= pairs.size()) continue;
      ++pairs[distance];
      const bool labelled = !table.labels[a].empty() && !table.labels[b].empty();
      if (labelled && !std::ranges::equal(table.labels[a], table.labels[b])) ++other[distance];
    }
  }
  std::partial_sum(pairs.begin(), pairs.end(), pairs.begin());
  std::partial_sum(other.begin(), other.end(), other.begin());
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    EXPECT_EQ(curve.points[t].pairs, pairs[t]) << t;
    EXPECT_EQ(curve.points[t].other_class, other[t]) << t;
    Options options;
    options.hash = curve.hash;
    options.threshold = static_cast<int>(t);
    const Result result = deduplicate(table, options);
    std::uint64_t grouped = 0;
    for (const Group& group : result.groups) grouped += group.rows.size();
    EXPECT_EQ(curve.points[t].grouped, grouped) << t;
    EXPECT_EQ(curve.points[t].removable, grouped - result.groups.size()) << t;
  }
}

TEST(Curve, CountsWhatLookingAtEveryPairCounts) {
  Planted made = planted(300, 200, 3, 9);
  // Groups of equal codes; some images have no labels, some have nothing to match on.
  Fingerprints& table = made.table;
  for (std::size_t row = 0; row < 60; ++row) table.codes[0].words[row] = row % 3;
  for (std::size_t row = 50; row < 55; ++row) table.quality[row] = 0;
  Ragged<std::int32_t> labels;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::vector<std::int32_t> two{1, 2};
    if (row % 7 == 0) {
      labels.push_back({});
    } else if (row % 11 == 0) {
      labels.push_back(two);
    } else {
      labels.push_back(table.labels[row]);
    }
  }
  table.labels = labels;
  expect_counts(table, curve_of(table, {.hash = "phash", .most = 16}));

  CodeColumn mirrored = empty_codes("phash_mirrored", 1, 128);
  CounterRng rng(4, 0, 0, RandomUse::kTest);
  for (std::size_t row = 0; row < table.size(); ++row) {
    mirrored.words.push_back(table.codes[0].words[row]);
    mirrored.words.push_back(row % 4 == 0 ? rng.next_u64()
                                          : table.codes[0].words[rng.next_u32() % table.size()]);
  }
  table.codes.push_back(std::move(mirrored));
  const Curve turned = curve_of(table, {.hash = "phash_mirrored", .most = 12});
  EXPECT_EQ(turned.bits, 64);
  EXPECT_GT(turned.points[0].pairs, curve_of(table, {.hash = "phash", .most = 0}).points[0].pairs);
  expect_counts(table, turned);
}

TEST(Curve, PrecisionByClassIsNearTheTruth) {
  // Random codes of 64 bits: at 18 bits, there are as many chance pairs as planted ones.
  const Planted made = planted(4000, 2000, 10, 6);
  const Curve curve = curve_of(made.table, {.hash = "phash", .most = 18});
  EXPECT_EQ(curve.by, FalsePairs::kByClass);
  EXPECT_NEAR(curve.chance, 0.9, 0.01);
  EXPECT_NEAR(curve.independent_bits, 64, 4);
  EXPECT_NEAR(curve.mean, 32, 0.2);
  // At most 16 of 64 fair bits differ with a probability of 3.9e-5.
  EXPECT_NEAR(std::log(curve.points[16].chance_probability), std::log(3.9e-5), 0.4);
  for (const CurvePoint& point : curve.points) {
    ASSERT_TRUE(point.precision);
    EXPECT_LE(*point.precision_at_least, *point.precision);
    if (point.threshold < 6) continue;
    const double truth = static_cast<double>(made.copies) / static_cast<double>(point.pairs);
    EXPECT_NEAR(*point.precision, truth, 0.05) << point.threshold;
  }
  EXPECT_LT(*curve.points[18].precision, 0.5);  // otherwise the test would be empty
}

TEST(Curve, PrecisionByDistanceIsNearTheTruthWithoutLabels) {
  Planted made = planted(4000, 2000, 10, 6);
  made.table.labels = {};
  for (std::size_t row = 0; row < made.table.size(); ++row) made.table.labels.push_back({});
  const Curve curve = curve_of(made.table, {.hash = "phash", .most = 20});
  EXPECT_EQ(curve.by, FalsePairs::kByDistance);
  for (const CurvePoint& point : curve.points) {
    if (point.threshold < 6) continue;
    const double truth = static_cast<double>(made.copies) / static_cast<double>(point.pairs);
    EXPECT_NEAR(*point.precision, truth, 0.1) << point.threshold;
  }
}

TEST(Curve, AThresholdIsChosenByPrecision) {
  const Planted made = planted(4000, 2000, 10, 6);
  const Curve curve = curve_of(made.table, {.hash = "phash", .most = 20});
  const auto choice = choose_threshold(curve, 0.95);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->reason, ThresholdReason::kPrecision);
  const int chosen = choice->threshold;
  EXPECT_GE(chosen, 10);
  EXPECT_LT(chosen, 17);
  EXPECT_GE(*curve.points[static_cast<std::size_t>(chosen)].precision, 0.95);
  EXPECT_LT(*curve.points[static_cast<std::size_t>(chosen) + 1].precision, 0.95);
  const auto furthest = choose_threshold(curve, 0);
  EXPECT_EQ(furthest->threshold, 20);
  EXPECT_EQ(furthest->reason, ThresholdReason::kSearchLimit);
}

// A table of 256-bit codes: random ones, and copies of some of them up to `most_bits` away.
Fingerprints pdq_table(std::size_t originals, std::size_t copies, std::uint32_t most_bits) {
  CounterRng rng(5, 0, 0, RandomUse::kTest);
  CodeColumn codes{"pdq", 1, 256, {}};
  for (std::size_t word = 0; word < 4 * originals; ++word) codes.words.push_back(rng.next_u64());
  for (std::size_t copy = 0; copy < copies; ++copy) {
    std::vector<std::uint64_t> code(codes.code(copy).begin(), codes.code(copy).end());
    for (std::uint32_t flips = rng.below(most_bits + 1); flips > 0; --flips) {
      const std::uint32_t bit = rng.below(256);
      code[bit / 64] ^= std::uint64_t{1} << bit % 64;
    }
    codes.words.insert(codes.words.end(), code.begin(), code.end());
  }
  Fingerprints table = table_of_codes(std::vector<std::uint64_t>(originals + copies));
  table.labels = {};
  for (std::size_t row = 0; row < table.size(); ++row) table.labels.push_back({});
  table.codes = {std::move(codes)};
  return table;
}

TEST(Curve, IsSearchedAsFarAsPrecisionFalls) {
  const Curve curve = curve_of(pdq_table(800, 591, 95), {.hash = "pdq"});
  const auto choice = choose_threshold(curve, 0.95);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->reason, ThresholdReason::kPrecision);
  EXPECT_GE(choice->threshold, 70);
  EXPECT_LE(choice->threshold, 95);
  EXPECT_GE(curve.points[static_cast<std::size_t>(choice->threshold)].pairs, 560U);
  EXPECT_LT(*curve.points.back().precision, 0.5);
}

TEST(Curve, WithoutPairsTheUsualThresholdIsTaken) {
  const auto choice = choose_threshold(curve_of(pdq_table(500, 0, 0), {.hash = "pdq"}), 0.95);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->reason, ThresholdReason::kNoPairs);
  EXPECT_EQ(choice->threshold, 71);
  const Curve alone = curve_of(table_of_codes({0, ~std::uint64_t{0}}), {.hash = "phash"});
  EXPECT_EQ(choose_threshold(alone, 1)->threshold, 4);
  EXPECT_EQ(choose_threshold(alone, 1)->reason, ThresholdReason::kNoPairs);
  // The usual threshold does not apply if there are false pairs below it.
  Curve few = alone;
  few.points[2].pairs = 5;
  few.points[2].precision = 0.1;
  EXPECT_EQ(choose_threshold(few, 0.9)->threshold, 1);
}

TEST(Curve, UsualThresholdsAreOfTheHashWhateverItsScaleAndOrientations) {
  EXPECT_EQ(usual_threshold("phash"), 4);
  EXPECT_EQ(usual_threshold("phash@1/8"), 4);
  EXPECT_EQ(usual_threshold("phash_dihedral"), 3);
  EXPECT_EQ(usual_threshold("pdq"), 71);
  EXPECT_EQ(usual_threshold("pdq_mirrored@1/2"), 69);
  EXPECT_EQ(usual_threshold("phash16"), 70);
  EXPECT_EQ(usual_threshold("dhash"), 1);
  EXPECT_EQ(usual_threshold("ahash"), 0);
}

TEST(Curve, ASearchThatEndsAmongDuplicatesDoesNotTakeThemForChance) {
  const Curve curve = curve_of(pdq_table(800, 591, 95), {.hash = "pdq", .most = 48});
  EXPECT_GT(*curve.points.back().precision, 0.99);
  EXPECT_EQ(choose_threshold(curve, 0.95)->reason, ThresholdReason::kSearchLimit);
}

TEST(Curve, LabelsThatNeverDifferSayNothing) {
  // Two classes, but all near pairs are of one class. A few such pairs do not prove that more would
  // be.
  Planted made = planted(400, 60, 1, 4);
  Ragged<std::int32_t> labels;
  for (std::size_t row = 0; row < made.table.size(); ++row) {
    const std::int32_t label = row % 400 < 60 ? 0 : 1;
    labels.push_back(std::span(&label, 1));
  }
  made.table.labels = labels;
  const Curve curve = curve_of(made.table, {.hash = "phash", .most = 10});
  EXPECT_EQ(curve.points.back().other_class, 0U);
  EXPECT_EQ(curve.by, FalsePairs::kByDistance);
}

// Copies whose labels are as random as those of different pictures.
Planted contradicting() {
  Planted made = planted(2000, 200, 1, 3);
  CounterRng rng(11, 0, 0, RandomUse::kTest);
  made.table.labels = {};
  for (std::size_t row = 0; row < made.table.size(); ++row) {
    const auto label = static_cast<std::int32_t>(rng.next_u32() % 2);
    made.table.labels.push_back(std::span(&label, 1));
  }
  return made;
}
bool is_planted(const Edge& pair) { return pair.a + 2000 == pair.b; }

TEST(Curve, LabelsCountOnlyAsFarAsPicturesDoNotContradictThem) {
  const Planted made = contradicting();
  const CurveOptions by_labels{.hash = "phash", .most = 10};
  const Curve alone = curve_of(made.table, by_labels);
  EXPECT_EQ(alone.by, FalsePairs::kByClass);
  EXPECT_LT(*alone.points[6].precision, 0.2);

  std::vector<Edge> asked;
  CurveOptions by_pictures = by_labels;
  by_pictures.shown = [&](std::span<const Edge> pairs) {
    asked.insert(asked.end(), pairs.begin(), pairs.end());
    std::vector<bool> shown;
    for (const Edge& pair : pairs) shown.push_back(is_planted(pair));
    return shown;
  };
  const Curve shown = curve_of(made.table, by_pictures);
  EXPECT_LE(asked.size(), kMostShown);
  EXPECT_NEAR(shown.label_errors, 0.5, 0.15);
  EXPECT_GT(*shown.points[6].precision, 0.95);
}

TEST(Curve, PicturesAreNotAskedWhereNoLabelsDiffer) {
  const Planted made = planted(400, 60, 1, 4);
  CurveOptions options{.hash = "phash", .most = 10};
  options.shown = [](std::span<const Edge>) -> std::vector<bool> {
    ADD_FAILURE() << "asked";
    return {};
  };
  EXPECT_EQ(curve_of(made.table, options).label_errors, 0);
}

// Different pictures that the comparison does not show to be one count as false by their labels, as
// they do without pictures.
TEST(Curve, LabelsOfStrangersCountBesidePictures) {
  const Planted made = planted(4000, 2000, 10, 6);
  CurveOptions options{.hash = "phash", .most = 18};
  const Curve alone = curve_of(made.table, options);
  options.shown = [](std::span<const Edge> pairs) {
    std::vector<bool> shown;
    for (const Edge& pair : pairs) shown.push_back(pair.a + 4000 == pair.b);
    return shown;
  };
  const Curve beside = curve_of(made.table, options);
  EXPECT_EQ(beside.by, FalsePairs::kByClass);
  for (std::size_t t = 0; t < alone.points.size(); ++t) {
    EXPECT_NEAR(*beside.points[t].precision, *alone.points[t].precision, 0.01) << t;
  }
}

TEST(Curve, TellsHowFarItIsAndStops) {
  const Planted made = planted(20000, 1000, 10, 6);
  std::vector<Progress> told;
  CurveOptions options{.hash = "phash", .most = 6};
  options.search.progress = [&](const Progress& progress) { told.push_back(progress); };
  curve_of(made.table, options);
  ASSERT_GT(told.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(told, {}, &Progress::done));
  EXPECT_GT(told.back().total, 20000U);
  EXPECT_GE(told.back().done, told.back().total * 99 / 100);
  int asked = 0;
  options.search.stop = [&] { return ++asked > 2; };
  EXPECT_THROW(curve_of(made.table, options), StoppedError);
}

TEST(Curve, FewImagesAndFlatCodesAreNoTrouble) {
  for (const std::size_t count : {0U, 1U, 2U, 50U}) {
    Fingerprints table = table_of_codes(std::vector<std::uint64_t>(count, 5));
    const Curve curve = curve_of(table, {.hash = "phash"});
    ASSERT_EQ(curve.points.size(), 9U);
    EXPECT_EQ(curve.points[0].pairs, count * (count - (count > 0 ? 1 : 0)) / 2);
    EXPECT_EQ(curve.points[8].pairs, curve.points[0].pairs);
    EXPECT_TRUE(std::isfinite(curve.points[8].false_pairs));
  }
  EXPECT_THROW(curve_of(table_of_codes({1, 2}), {.hash = "pdq"}), UsageError);
}

}  // namespace winnow::dedup::curve_test
