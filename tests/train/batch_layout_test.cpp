#include "train/plan/batch_layout.h"

#include <gtest/gtest.h>

#include <sstream>

#include "common/error.h"
#include "train/run/start/without_labels.h"

namespace winnow::train::batch_layout_test {

TEST(BatchLayout, RanksShareTheMicroBatchesOfABatch) {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    std::int64_t next = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const BatchLayout layout = plan_batches(1000, 56, 8, 2, {rank, ranks});
      EXPECT_EQ(layout.first_micro, next);
      EXPECT_GE(layout.micro_batches(), 7 / ranks);
      EXPECT_LE(layout.micro_batches(), (7 + ranks - 1) / ranks);
      next = layout.last_micro;
    }
    EXPECT_EQ(next, 7);
  }
}

TEST(BatchLayout, StepsAndEpochs) {
  const BatchLayout layout = plan_batches(1000, 56, 8, 2, {0, 1});
  EXPECT_EQ(layout.total_steps, 36);  // 2000 / 56, rounded
  EXPECT_EQ(layout.end_of_epoch(1), 18);
  EXPECT_EQ(layout.end_of_epoch(2), 36);
  EXPECT_EQ(layout.end_of_epoch(3), 36);
  EXPECT_DOUBLE_EQ(layout.epoch_at(18), 1.008);
  EXPECT_EQ(plan_batches(3, 64, 64, 1, {0, 1}).total_steps, 1);  // at least one
}

TEST(BatchLayout, RanksLoadTheirPartAndTheOneBeforeIt) {
  pipeline::SampleSet samples;
  for (SampleId id = 0; id < 50; ++id) samples.ids.push_back(id);
  samples.weights.assign(50, 1.0F);
  const pipeline::Sampler sampler(samples, 3);
  const auto same = [](const pipeline::Request& a, const pipeline::Request& b) {
    return a.id == b.id && a.epoch == b.epoch && a.weight == b.weight;
  };
  for (const std::int64_t step : {0, 2, 3}) {
    const auto all = requests_of(plan_batches(50, 24, 4, 3, {0, 1}), sampler, step, true);
    ASSERT_EQ(all.size(), 24U);
    for (int ranks = 2; ranks <= 6; ++ranks) {
      std::size_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const BatchLayout layout = plan_batches(50, 24, 4, 3, {rank, ranks});
        const auto mixed = requests_of(layout, sampler, step, true);
        EXPECT_TRUE(mixed.back().partner);
        EXPECT_TRUE(same(mixed.back(), all[(next + 23) % 24]));
        const auto mine = requests_of(layout, sampler, step, false);
        ASSERT_EQ(mine.size() + 1, mixed.size());
        for (std::size_t i = 0; i < mine.size(); ++i, ++next) {
          EXPECT_TRUE(same(mine[i], all[next]) && same(mixed[i], all[next]));
          EXPECT_FALSE(mine[i].partner || mixed[i].partner);
        }
      }
      EXPECT_EQ(next, 24U);
    }
  }
}

TEST(BatchLayout, RefusesWhatDoesNotFit) {
  EXPECT_THROW(plan_batches(100, 10, 4, 1, {0, 1}), UsageError);
  EXPECT_THROW(plan_batches(100, 16, 4, 1, {0, 5}), UsageError);
  EXPECT_THROW(plan_batches(100, 16, 4, 0, {0, 1}), UsageError);
  EXPECT_NO_THROW(plan_batches(100, 16, 4, 1, {3, 4}));
  EXPECT_THROW(plan_batches(100, 16, 4, 1e30, {0, 1}), UsageError);
  EXPECT_THROW(plan_batches(100, std::int64_t{1} << 62, 4, 1, {0, 1}), UsageError);
}

TEST(BatchLayout, DefaultMicroBatchDividesTheBatch) {
  for (std::int64_t batch = 1; batch <= 300; ++batch) {
    const std::int64_t m = default_micro_batch(batch);
    EXPECT_EQ(batch % m, 0);
    const auto none_divides = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t other = first; other <= last; ++other) {
        if (batch % other == 0) return false;
      }
      return true;
    };
    const std::int64_t most = std::min<std::int64_t>(64, batch / 4);
    EXPECT_TRUE(m == batch || m >= kLeastOfNorm) << batch;
    if (m <= most) {
      EXPECT_TRUE(none_divides(m + 1, most)) << batch;
    } else {  // no divisor is small enough and leaves enough samples
      EXPECT_TRUE(none_divides(kLeastOfNorm, m - 1)) << batch;
    }
  }
}

TEST(BatchLayout, PrimesAreOneMicroBatch) {
  for (const std::int64_t batch : {2, 3, 5, 7, 11, 37, 61, 67, 127, 131, 4099}) {
    EXPECT_EQ(default_micro_batch(batch), batch);
    EXPECT_EQ(micro_batch_of_views(batch), batch);
  }
  EXPECT_EQ(default_micro_batch(4), 4);
  EXPECT_EQ(default_micro_batch(16), 8);
  EXPECT_EQ(default_micro_batch(24), 8);
  EXPECT_EQ(default_micro_batch(134), 67);
  EXPECT_EQ(default_micro_batch(402), 67);
}

// All have at least four micro-batches of at least eight samples.
TEST(BatchLayout, UsualBatchesKeepTheirMicroBatches) {
  for (const auto& [batch, micro_batch] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{32, 8},
                                                          {36, 9},
                                                          {40, 10},
                                                          {48, 12},
                                                          {64, 16},
                                                          {96, 24},
                                                          {100, 25},
                                                          {128, 32},
                                                          {256, 64},
                                                          {512, 64},
                                                          {1000, 50},
                                                          {1024, 64},
                                                          {4096, 64}}) {
    EXPECT_EQ(default_micro_batch(batch), micro_batch);
  }
}

TEST(BatchLayout, RefusalOfRanksNamesBatchesThatDivide) {
  const auto refusal = [](std::int64_t batch, std::int64_t micro_batch, int ranks) {
    try {
      plan_batches(1000, batch, micro_batch, 1, {0, ranks});
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal(37, 37, 4).find("--batch-size 36 or 40"), std::string::npos);
  EXPECT_NE(refusal(4, 4, 2).find("--batch-size 16"), std::string::npos);
  EXPECT_NE(refusal(8, 4, 3).find("--batch-size 12 with --micro-batch 4"), std::string::npos);
}

TEST(BatchLayout, RefusalOfRanksKnowsTheMicroBatchOfViews) {
  for (const auto& [batch, ranks] : {std::pair<std::int64_t, int>{64, 4}, {1024, 8}, {257, 3}}) {
    std::string said;
    try {
      plan_batches(1000, batch, micro_batch_of_views(batch), 1, {0, ranks}, true);
    } catch (const UsageError& error) {
      said = error.what();
    }
    const std::string before = "--batch-size ";
    const std::size_t at = said.find(before);
    ASSERT_NE(at, std::string::npos) << said;
    std::istringstream words(said.substr(at + before.size()));
    std::string word = "or";
    for (std::int64_t named = 0; word == "or" && words >> named; words >> word) {
      EXPECT_NO_THROW(plan_batches(1000, named, micro_batch_of_views(named), 1, {0, ranks}, true))
          << said;
      if (words.peek() == ',') break;
    }
  }
}

TEST(BatchLayout, MicroBatchOfViewsIsLarge) {
  EXPECT_EQ(micro_batch_of_views(1024), 256);
  EXPECT_EQ(micro_batch_of_views(256), 128);
  EXPECT_EQ(micro_batch_of_views(90), 45);
  EXPECT_EQ(micro_batch_of_views(7), 7);
  EXPECT_EQ(micro_batch_of_views(771), 257);
}

// No two views of a sample draw the same random numbers, in any epoch.
TEST(Views, OfASampleLieBesideEachOtherAndDiffer) {
  const std::vector<pipeline::Request> requests = {{.id = 7, .epoch = 0}, {.id = 3, .epoch = 5}};
  const auto views = in_views(requests, 2);
  ASSERT_EQ(views.size(), 4U);
  const std::vector<SampleId> ids = {7, 7, 3, 3};
  const std::vector<std::uint32_t> counts = {0, 1, 10, 11};
  std::vector<SampleId> found;
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(views[i].id, ids[i]);
    EXPECT_EQ(views[i].epoch, counts[i]);
    EXPECT_EQ(views[i].weight, 1);
    found.push_back(views[i].id);
  }
  EXPECT_EQ(samples_of_views(found, 2), (std::vector<SampleId>{7, 3}));
  EXPECT_EQ(in_views(requests, 1).size(), 2U);
  EXPECT_EQ(in_views(requests, 1)[1].epoch, 5U);
}

TEST(BatchLayout, WeightOfABatchIsThatOfItsRequests) {
  pipeline::SampleSet samples;
  for (SampleId id = 0; id < 10; ++id) {
    samples.ids.push_back(id);
    samples.weights.push_back(1);
  }
  const BatchLayout layout = plan_batches(10, 4, 4, 5, {0, 1});
  EXPECT_EQ(weight_of_batch(layout, pipeline::Sampler(samples, 1), 0), 4);
  EXPECT_TRUE(pipeline::Sampler(samples, 1).all_weights_are_one());
  for (std::size_t i = 0; i < 10; ++i) samples.weights[i] = static_cast<float>(i);
  const pipeline::Sampler sampler(samples, 1);
  EXPECT_FALSE(sampler.all_weights_are_one());
  double sum = 0;
  for (std::int64_t step = 0; step < 5; ++step) {
    double requested = 0;
    for (const auto& r : sampler.requests(static_cast<std::uint64_t>(step) * 4, 4))
      requested += r.weight;
    EXPECT_EQ(weight_of_batch(layout, sampler, step), requested);
    sum += requested;
  }
  EXPECT_EQ(sum, 90);  // five batches of four are two epochs of 45
}

}  // namespace winnow::train::batch_layout_test
