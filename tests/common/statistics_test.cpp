#include "common/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <vector>

#include "common/rng.h"

namespace winnow::statistics_test {

// Results of SciPy 1.17 (betainc, norm.ppf, t.isf, t.sf, binomtest, ttest_rel).
TEST(Distributions, AreThoseOfSciPy) {
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.3), 0.36901011956554536, 1e-12);
  EXPECT_NEAR(incomplete_beta(2, 3, 0.4), 0.5248, 1e-12);
  EXPECT_NEAR(incomplete_beta(10, 0.5, 0.9), 0.15164090963470994, 1e-12);
  EXPECT_NEAR(incomplete_beta(50, 0.5, 0.999), 0.7523690199653766, 1e-11);
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.01), 0.06376856085851985, 1e-12);
  EXPECT_NEAR(incomplete_beta(300, 700, 0.31), 0.7564186827315443, 1e-10);
  EXPECT_NEAR(incomplete_beta(5000, 1.5, 0.9995), 0.1716873063192896, 1e-9);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);

  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.9995), 3.2905267314919255, 1e-10);
  EXPECT_NEAR(normal_quantile(1e-6), -4.753424308822899, 1e-10);

  EXPECT_NEAR(student_t_bound(0.05, 1), 12.706204736174705, 1e-8);
  EXPECT_NEAR(student_t_bound(0.1, 2), 2.9199855803537256, 1e-9);
  EXPECT_NEAR(student_t_bound(0.05, 7), 2.3646242515927844, 1e-9);
  EXPECT_NEAR(student_t_bound(0.01, 7), 3.4994832973504932, 1e-9);
  EXPECT_NEAR(student_t_bound(0.05, 1000), 1.9623390808264085, 1e-8);
  EXPECT_NEAR(student_t_bound(0.001, 1), 636.6192487687196, 1e-4);
  EXPECT_NEAR(student_t_bound(0.5, 3), 0.7648923284043444, 1e-9);
  EXPECT_NEAR(student_t_tails(1.5, 2), 0.2723931248910011, 1e-12);
  EXPECT_NEAR(student_t_tails(-3.2, 7), 0.015065811342489301, 1e-12);
  EXPECT_NEAR(student_t_tails(40, 100) / 2.462107602140071e-63, 1, 1e-9);
}

TEST(Wilson, HasSciPysLimits) {
  struct Row {
    std::uint64_t hits, trials;
    double least, most;
  };
  for (const Row& row : std::vector<Row>{{0, 20, 0, 0.16112515805281935},
                                         {95, 100, 0.8882495307680809, 0.978456320845632},
                                         {9123, 10000, 0.9065965642806005, 0.9176867906629395},
                                         {10, 10, 0.7224672001371109, 1},
                                         {0, 0, 0, 1}}) {
    const Interval got = wilson(row.hits, row.trials);
    EXPECT_NEAR(got.least, row.least, 1e-12) << row.hits;
    EXPECT_NEAR(got.most, row.most, 1e-12) << row.hits;
  }
}

TEST(Median, IsInTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  for (const Middle middle : {Middle::kLower, Middle::kUpper})
    EXPECT_EQ(median({9, 2, 4}, middle), 4);
  const std::vector<double> even{8, 1, 4, 2};
  EXPECT_EQ(median(even), 3);
  EXPECT_EQ(median(even, Middle::kLower), 2);
  EXPECT_EQ(median(even, Middle::kUpper), 4);
}

TEST(PairedDifference, IsThatOfSciPysPairedTest) {
  const std::vector<double> a{0.912, 0.915, 0.909, 0.917};
  const std::vector<double> b{0.908, 0.913, 0.910, 0.911};
  const PairedDifference got = paired_difference(a, b);
  EXPECT_EQ(got.pairs, 4U);
  EXPECT_NEAR(got.mean, -0.00275, 1e-15);
  EXPECT_NEAR(*got.p, 0.16273310982429354, 1e-10);
  EXPECT_NEAR(got.interval->least, -0.007501517739986467, 1e-11);
  EXPECT_NEAR(got.interval->most, 0.0020015177399864623, 1e-11);
  EXPECT_NEAR(paired_difference(a, b, 0.9).interval->least, -0.0062636643438512005, 1e-11);
}

TEST(PairedDifference, OfFoldsIsTheCorrectedResampledTest) {
  const std::vector<double> a{0.912, 0.915, 0.909, 0.917};
  const std::vector<double> b{0.908, 0.913, 0.910, 0.911};
  const PairedDifference plain = paired_difference(a, b);
  const PairedDifference folds = paired_difference(a, b, 0.95, 0, 1.0 / 3);
  EXPECT_EQ(folds.mean, plain.mean);
  EXPECT_EQ(folds.deviation, plain.deviation);
  // The corrected variance has 1/4 + 1/3 in place of 1/4.
  const double wider = std::sqrt(7.0 / 3);
  EXPECT_NEAR(folds.interval->most - folds.mean, wider * (plain.interval->most - plain.mean),
              1e-12);
  EXPECT_NEAR(*folds.p, student_t_tails(-0.00275 / (plain.deviation * std::sqrt(7.0 / 12)), 3),
              1e-12);
  EXPECT_GT(*folds.p, *plain.p);
}

TEST(PairedDifference, SaysNothingOfOnePairAndNothingCertainOfFewImages) {
  const std::vector<double> one{0.5};
  EXPECT_FALSE(paired_difference(one, one).interval);
  EXPECT_FALSE(paired_difference(one, one).p);
  // Three seeds with 100 images. The second recipe has one more image right for each seed.
  const std::vector<double> a{0.90, 0.91, 0.92};
  const std::vector<double> b{0.91, 0.92, 0.93};
  const PairedDifference got = paired_difference(a, b, 0.95, 0.01);
  EXPECT_NEAR(got.mean, 0.01, 1e-12);
  EXPECT_GT(*got.p, 0.02);
  EXPECT_LT(got.interval->least, 0.001);
  EXPECT_EQ(*paired_difference(a, a).p, 1);
  EXPECT_THROW(paired_difference(a, one), std::invalid_argument);
  EXPECT_THROW(paired_difference({}, {}), std::invalid_argument);
}

TEST(McNemar, IsTheExactTestOfSciPy) {
  const auto p = [](std::uint64_t a, std::uint64_t b) {
    return mcnemar({.both = 1000, .only_a = a, .only_b = b, .neither = 50});
  };
  EXPECT_NEAR(p(10, 25), 0.016673847800120715, 1e-12);
  EXPECT_NEAR(p(25, 10), 0.016673847800120715, 1e-12);
  EXPECT_NEAR(p(3, 0), 0.25, 1e-12);
  EXPECT_NEAR(p(121, 59) / 4.4344492637551645e-06, 1, 1e-8);
  EXPECT_NEAR(p(1000, 1100), 0.03072070786424249, 1e-9);
  EXPECT_EQ(p(8, 9), 1);
  EXPECT_EQ(p(0, 0), 1);
}

TEST(CountHits, CountsEachImageOnce) {
  const PairedHits hits =
      count_hits({true, true, false, false, true}, {true, false, true, false, false});
  EXPECT_EQ(hits.both, 1U);
  EXPECT_EQ(hits.only_a, 2U);
  EXPECT_EQ(hits.only_b, 1U);
  EXPECT_EQ(hits.neither, 1U);
  EXPECT_EQ(hits.images(), 5U);
}

// The verdict of a single test.
Loss loss_of(double p_no_loss) {
  return judge_losses(std::vector{std::optional(p_no_loss)})[0]->loss;
}

// If an end of a two-sided interval of 90 % is the margin, the one-sided p is 5 %.
TEST(NoLoss, IsShownWhereTheWholeIntervalIsAboveTheMargin) {
  const std::vector<double> a{0.90, 0.91, 0.92, 0.93};
  const std::vector<double> b{0.901, 0.908, 0.919, 0.933};
  const Interval seeds = *paired_difference(a, b, 0.9, 0.001, 0.1).interval;
  EXPECT_NEAR(p_no_loss(a, b, -seeds.least, 0.001, 0.1), 0.05, 1e-9);
  EXPECT_NEAR(p_no_loss(a, b, -seeds.most, 0.001, 0.1), 0.95, 1e-9);
  const PairedHits hits{.both = 300, .only_a = 30, .only_b = 20, .neither = 50};
  const Interval images = share_difference(hits, 0.9);
  EXPECT_NEAR(p_no_loss(hits, -images.least), 0.05, 1e-9);
  EXPECT_NEAR(p_no_loss(hits, -images.most), 0.95, 1e-9);
}

TEST(NoLoss, IsJudgedTogetherByHolm) {
  EXPECT_EQ(loss_of(0.05), Loss::kNone);
  EXPECT_EQ(loss_of(0.06), Loss::kUnknown);
  EXPECT_EQ(loss_of(0.96), Loss::kSome);
  const auto got = judge_losses(std::vector<std::optional<double>>{0.02, {}, 0.03, 0.5, 0.99});
  EXPECT_NEAR(got[0]->p_no_loss, 0.08, 1e-12);
  EXPECT_EQ(got[0]->loss, Loss::kUnknown);
  EXPECT_FALSE(got[1]);
  EXPECT_NEAR(got[2]->p_no_loss, 0.09, 1e-12);
  EXPECT_EQ(got[4]->loss, Loss::kSome) << "0.01, of four";
}

TEST(Holm, IsThatOfR) {
  // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
  const std::vector<double> got = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  const std::vector<double> want{0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12) << i;
  EXPECT_TRUE(holm({}).empty());
  const auto known = holm_of_known(std::vector<std::optional<double>>{0.01, {}, 0.04});
  EXPECT_NEAR(*known[0], 0.02, 1e-12);
  EXPECT_FALSE(known[1]);
  EXPECT_NEAR(*known[2], 0.04, 1e-12);
}

// Simulations: how often a statement is true in experiments with a known truth.

class Simulation {
 public:
  double normal() {
    const double u = rng_.uniform();
    return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * rng_.uniform());
  }
  bool happens(double share) { return rng_.uniform() < share; }

  double rate(int times, const auto& experiment) {
    int count = 0;
    for (int i = 0; i < times; ++i) count += experiment() ? 1 : 0;
    return static_cast<double>(count) / times;
  }

 private:
  CounterRng rng_{1, 0, 0, RandomUse::kTest};
};

// Accuracies of `seeds` runs of two recipes. A seed shifts both; each run also has its own noise.
struct Accuracies {
  std::vector<double> a;
  std::vector<double> b;
};
Accuracies accuracies(Simulation& world, int seeds, double difference, double noise) {
  Accuracies out;
  for (int i = 0; i < seeds; ++i) {
    const double of_seed = 0.9 + 0.01 * world.normal();
    out.a.push_back(of_seed + noise * world.normal());
    out.b.push_back(of_seed + difference + noise * world.normal());
  }
  return out;
}

TEST(Simulated, PairedIntervalsCoverAtTheirRate) {
  Simulation world;
  for (const int seeds : {2, 3, 5, 8}) {
    for (const double confidence : {0.9, 0.95}) {
      const double covered = world.rate(4000, [&] {
        const Accuracies runs = accuracies(world, seeds, -0.004, 0.003);
        return paired_difference(runs.a, runs.b, confidence).interval->has(-0.004);
      });
      EXPECT_NEAR(covered, confidence, 0.018) << seeds;  // more than three standard deviations
    }
  }
}

TEST(Simulated, FalseAlarmsOfThePairedTestAreAtItsLevel) {
  Simulation world;
  for (const int seeds : {2, 3, 8}) {
    const double alarms = world.rate(4000, [&] {
      const Accuracies runs = accuracies(world, seeds, 0, 0.003);
      return *paired_difference(runs.a, runs.b).p < 0.05;
    });
    EXPECT_NEAR(alarms, 0.05, 0.012) << seeds;
  }
}

TEST(Simulated, NoLossIsNotClaimedOfALossOfTwiceTheMargin) {
  Simulation world;
  const double margin = 0.005;
  const auto claims = [&](int seeds, double loss, double noise) {
    return world.rate(3000, [&] {
      const Accuracies runs = accuracies(world, seeds, -loss, noise);
      return loss_of(p_no_loss(runs.a, runs.b, margin)) == Loss::kNone;
    });
  };
  for (const int seeds : {2, 3, 5, 8}) {
    EXPECT_LT(claims(seeds, 2 * margin, 0.002), 0.02) << seeds;
    EXPECT_LT(claims(seeds, 2 * margin, 0.02), 0.05) << seeds;  // noise hides everything
    EXPECT_NEAR(claims(seeds, margin, 0.002), 0.05, 0.014) << seeds;
  }
  EXPECT_GT(claims(5, 0, 0.002), 0.9);  // without any loss, this is detected
}

TEST(Simulated, IntervalsOfSharesCover) {
  Simulation world;
  for (const double share : {0.5, 0.9, 0.99}) {
    const double covered = world.rate(2000, [&] {
      std::uint64_t hits = 0;
      for (int i = 0; i < 300; ++i) hits += world.happens(share) ? 1 : 0;
      return wilson(hits, 300).has(share);
    });
    EXPECT_NEAR(covered, 0.95, 0.025) << share;
  }
}

// Two nets on 400 images. `a` and `b` are the expected numbers of images that only the one net has
// right.
PairedHits nets(Simulation& world, double a, double b) {
  PairedHits hits;
  for (int i = 0; i < 400; ++i) {
    const bool one = world.happens(a + b);
    const bool first = world.happens(a / (a + b));
    ++(one ? (first ? hits.only_a : hits.only_b) : hits.both);
  }
  return hits;
}

TEST(Simulated, TestsOnTheSameImagesAlarmAndCoverAtTheirRate) {
  Simulation world;
  for (const double share : {0.01, 0.05, 0.15}) {
    EXPECT_LT(world.rate(2000, [&] { return mcnemar(nets(world, share, share)) < 0.05; }), 0.055);
    const double difference = share / 2;
    const double covered = world.rate(
        2000, [&] { return share_difference(nets(world, share, 1.5 * share)).has(difference); });
    EXPECT_GT(covered, 0.935) << share;
  }
  EXPECT_GT(world.rate(500, [&] { return mcnemar(nets(world, 0.02, 0.08)) < 0.05; }), 0.9);
  const double claimed = world.rate(
      2000, [&] { return loss_of(p_no_loss(nets(world, 0.06, 0.04), 0.01)) == Loss::kNone; });
  EXPECT_LT(claimed, 0.02);
}

}  // namespace winnow::statistics_test
