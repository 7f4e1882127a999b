#include "dedup/tune/judged.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/dedup/judgements.h"

namespace winnow::dedup::judged_test {

// Newcombe 1998 (81/263, 15/148, 0/20, 1/29) and common tables of Clopper-Pearson limits.
TEST(ClopperPearson, HasTheLimitsOfTables) {
  struct Row {
    double hits, trials, least, most;
  };
  for (const Row& row : std::vector<Row>{{81, 263, 0.2527, 0.3676},
                                         {15, 148, 0.0578, 0.1617},
                                         {0, 20, 0, 0.1684},
                                         {1, 29, 0.0009, 0.1776},
                                         {0, 10, 0, 0.3085},
                                         {1, 10, 0.0025, 0.4450},
                                         {5, 10, 0.1871, 0.8129},
                                         {10, 10, 0.6915, 1},
                                         {50, 100, 0.3983, 0.6017},
                                         {95, 100, 0.8872, 0.9836},
                                         {1, 1, 0.025, 1},
                                         {0, 0, 0, 1}}) {
    const Interval got = clopper_pearson(row.hits, row.trials);
    EXPECT_NEAR(got.least, row.least, 5e-5) << row.hits << "/" << row.trials;
    EXPECT_NEAR(got.most, row.most, 5e-5) << row.hits << "/" << row.trials;
  }
  EXPECT_NEAR(clopper_pearson(8, 10, 0.99).least, 0.3518, 5e-5);
  EXPECT_NEAR(clopper_pearson(8, 10, 0.99).most, 0.9891, 5e-5);
}

// The probability of at least `hits` hits in `trials`, term by term.
double at_least(int hits, int trials, double p) {
  double sum = 0;
  for (int k = hits; k <= trials; ++k) {
    sum += std::exp(std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1) +
                    k * std::log(p) + (trials - k) * std::log1p(-p));
  }
  return sum;
}

TEST(ClopperPearson, LeavesATailOfEachSide) {
  for (const int trials : {1, 2, 7, 40, 300}) {
    for (int hits = 0; hits <= trials; hits += 1 + trials / 9) {
      const Interval got = clopper_pearson(hits, trials);
      if (hits > 0) {
        EXPECT_NEAR(at_least(hits, trials, got.least), 0.025, 1e-9);
      }
      if (hits < trials) {
        EXPECT_NEAR(at_least(hits + 1, trials, got.most), 0.975, 1e-9);
      }
    }
  }
}

TEST(ClopperPearson, NarrowsForManyTrialsAndFractions) {
  const Interval many = clopper_pearson(500'000, 1'000'000);
  EXPECT_NEAR(many.least, 0.5 - 0.00098, 1e-5);
  EXPECT_NEAR(many.most, 0.5 + 0.00098, 1e-5);
  Interval before = clopper_pearson(4, 10);
  for (double hits = 4.1; hits < 5.05; hits += 0.1) {
    const Interval next = clopper_pearson(hits, 10);
    EXPECT_GT(next.least, before.least);
    EXPECT_GT(next.most, before.most);
    before = next;
  }
  for (const double hits : {0.0, 0.3, 9.7, 10.2}) {
    const Interval got = clopper_pearson(hits, 10.2);
    EXPECT_LE(got.least, hits / 10.2);
    EXPECT_GE(got.most, hits / 10.2);
  }
}

Review review_of(std::vector<Judgement> judgements) {
  return {.file = "said.jsonl", .judgements = std::move(judgements), .sample = {}, .digest = {}};
}

JudgedCurve judge(const Fingerprints& table, const Review& review) {
  const ColumnSource columns = [&](const ColumnNames& names) {
    return select_columns(table, names);
  };
  const Curve curve = measure_curve(columns, {.hash = "phash", .most = 8});
  return judge_curve(curve, columns, std::span(&review, 1));
}

TEST(JudgedCurve, CountsJudgedPairsByTheirBits) {
  Fingerprints table = make_table(images_of_codes({0, 0, 1, 7, 0xFF, 0xFFFFFF}));
  table.quality[4] = 0;
  const JudgedCurve got = judge(
      table, review_of({judgement(Verdict::kDuplicate, {1, 2, 3}),  // at 0, 1 and 1 bits
                        judgement(Verdict::kDifferent, {1, 4}),     // at 3 bits
                        judgement(Verdict::kDifferent, {2, 3}),     // revokes one of them
                        judgement(Verdict::kDifferent, {1, 5}),     // blank
                        judgement(Verdict::kDuplicate, {6, 99}),    // not in the table
                        judgement(Verdict::kUnsure, {1, 6}), judgement(Verdict::kKeep, {1})}));
  EXPECT_FALSE(got.sampled);
  ASSERT_EQ(got.points.size(), 4U);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> counts{{1, 1}, {3, 2}, {3, 2}, {4, 2}};
  for (std::size_t t = 0; t < counts.size(); ++t) {
    EXPECT_EQ(got.points[t].threshold, static_cast<int>(t));
    EXPECT_EQ(got.points[t].judged, counts[t].first);
    EXPECT_EQ(got.points[t].duplicates, counts[t].second);
    const auto hits = static_cast<double>(counts[t].second);
    const auto trials = static_cast<double>(counts[t].first);
    EXPECT_DOUBLE_EQ(*got.points[t].precision, hits / trials);
    EXPECT_DOUBLE_EQ(got.points[t].interval.least, clopper_pearson(hits, trials).least);
    EXPECT_DOUBLE_EQ(got.points[t].interval.most, clopper_pearson(hits, trials).most);
  }
  // 1, 3, 4 and 6 pairs lie within 0, 1, 2 and 3 bits; 1, 2, 8/3 and 3 duplicates are expected.
  EXPECT_NEAR(*got.points[0].found, 1.0 / 3, 1e-9);
  EXPECT_NEAR(*got.points[1].found, 2.0 / 3, 1e-9);
  EXPECT_NEAR(*got.points[2].found, 8.0 / 9, 1e-9);
  EXPECT_EQ(got.points[3].found, 1);
  ASSERT_NE(choose_judged(got, 0.6), nullptr);
  EXPECT_EQ(choose_judged(got, 0.6)->threshold, 1);
  EXPECT_EQ(choose_judged(got, 1)->threshold, 0);
}

TEST(JudgedCurve, IsEmptyWithoutJudgements) {
  EXPECT_TRUE(judge(make_table(images_of_codes({0, 1})), review_of({})).points.empty());
  EXPECT_TRUE(
      judge(make_table(images_of_codes({0, 1})), review_of({judgement(Verdict::kUnsure, {1, 2})}))
          .points.empty());
}

TEST(JudgedCurve, WeighsTheStrataOfASample) {
  Review review =
      review_of({judgement(Verdict::kDuplicate, {1, 2}), judgement(Verdict::kDuplicate, {1, 3}),
                 judgement(Verdict::kDifferent, {1, 4}), judgement(Verdict::kDifferent, {1, 5}),
                 judgement(Verdict::kDuplicate, {8, 9}), judgement(Verdict::kUnsure, {1, 6})});
  review.sample = PairSample{
      .hash = "phash",
      .threshold = 4,
      .scope = "all",
      .certain = 10,
      .strata = {
          {.distance = 1, .pairs = 100, .drawn = {pair_of(1, 2), pair_of(1, 3)}},
          {.distance = 3, .pairs = 30, .drawn = {pair_of(1, 4), pair_of(1, 5), pair_of(1, 6)}},
          {.distance = 3, .pairs = 60, .drawn = {pair_of(1, 7)}}}};
  const JudgedCurve got = judge(make_table(images_of_codes({0, 1})), review);
  EXPECT_TRUE(got.sampled);
  ASSERT_EQ(got.points.size(), 4U);
  EXPECT_EQ(got.points[0].judged, 0U);
  EXPECT_EQ(*got.points[0].precision, 1);  // equal files need no judgement
  EXPECT_EQ(got.points[1].judged, 2U);
  EXPECT_DOUBLE_EQ(*got.points[1].precision, 1);
  const Interval two = clopper_pearson(2, 2);
  EXPECT_DOUBLE_EQ(got.points[1].interval.least, (10 + 100 * two.least) / 110);
  EXPECT_DOUBLE_EQ(got.points[1].interval.most, 1);
  // 100 of 130 are duplicates. The 60 pairs that were not sampled may be like them, or anything.
  EXPECT_EQ(got.points[3].judged, 4U);
  EXPECT_DOUBLE_EQ(*got.points[3].precision, (10 + 190 * 100.0 / 130) / 200);
  const double trials = 130.0 * 130 / (100.0 * 100 / 2 + 30.0 * 30 / 2);
  const Interval four = clopper_pearson(trials * 100 / 130, trials);
  EXPECT_NEAR(got.points[3].interval.least, (10 + 130 * four.least) / 200, 1e-12);
  EXPECT_NEAR(got.points[3].interval.most, (10 + 130 * four.most + 60) / 200, 1e-12);
  EXPECT_NEAR(*got.points[1].found, 110 / (10 + 190 * 100.0 / 130), 1e-12);
}

// Strata drawn at the same rate are a single sample.
TEST(JudgedCurve, IsTheExactIntervalWhereStrataAreDrawnAlike) {
  Review review = review_of({});
  review.sample = PairSample{.hash = "phash", .threshold = 2, .scope = "all"};
  for (std::uint64_t stratum = 0; stratum < 4; ++stratum) {
    PairSample::Stratum& to = review.sample->strata.emplace_back();
    to.distance = 2;
    to.pairs = 500;
    for (std::uint64_t i = 0; i < 5; ++i) {
      const std::uint64_t first = 100 * stratum + 2 * i;
      to.drawn.push_back(pair_of(first, first + 1));
      review.judgements.push_back(
          judgement(i < stratum ? Verdict::kDuplicate : Verdict::kDifferent, {first, first + 1}));
    }
  }
  const JudgedCurve got = judge(make_table(images_of_codes({0, 1})), review);
  ASSERT_EQ(got.points.size(), 3U);
  EXPECT_DOUBLE_EQ(*got.points[2].precision, 6.0 / 20);
  EXPECT_NEAR(got.points[2].interval.least, clopper_pearson(6, 20).least, 1e-9);
  EXPECT_NEAR(got.points[2].interval.most, clopper_pearson(6, 20).most, 1e-9);
}

}  // namespace winnow::dedup::judged_test
