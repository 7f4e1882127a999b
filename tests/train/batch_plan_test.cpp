#include "train/run/batch_plan.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace winnow::train {
namespace {

TEST(BatchPlan, RanksShareTheMicroBatchesOfABatch) {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    std::int64_t next = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const BatchPlan plan = plan_batches(1000, 56, 8, 2, rank, ranks);
      EXPECT_EQ(plan.first_micro, next);
      EXPECT_GE(plan.micro_batches(), 7 / ranks);
      EXPECT_LE(plan.micro_batches(), (7 + ranks - 1) / ranks);
      next = plan.last_micro;
    }
    EXPECT_EQ(next, 7);
  }
}

TEST(BatchPlan, StepsAndEpochs) {
  const BatchPlan plan = plan_batches(1000, 56, 8, 2, 0, 1);
  EXPECT_EQ(plan.total_steps, 36);  // 2000 / 56, rounded
  EXPECT_EQ(plan.end_of_epoch(1), 18);
  EXPECT_EQ(plan.end_of_epoch(2), 36);
  EXPECT_EQ(plan.end_of_epoch(3), 36);
  EXPECT_DOUBLE_EQ(plan.epoch_at(18), 1.008);
  EXPECT_EQ(plan_batches(3, 64, 64, 1, 0, 1).total_steps, 1);  // never none
}

TEST(BatchPlan, RefusesWhatDoesNotFit) {
  EXPECT_THROW(plan_batches(100, 10, 4, 1, 0, 1), UsageError);
  EXPECT_THROW(plan_batches(100, 16, 4, 1, 0, 5), UsageError);
  EXPECT_THROW(plan_batches(100, 16, 4, 0, 0, 1), UsageError);
  EXPECT_NO_THROW(plan_batches(100, 16, 4, 1, 3, 4));
}

TEST(BatchPlan, DefaultMicroBatchDividesTheBatch) {
  for (std::int64_t batch = 1; batch <= 300; ++batch) {
    const std::int64_t m = default_micro_batch(batch);
    EXPECT_EQ(batch % m, 0);
    EXPECT_LE(m, 64);
    EXPECT_TRUE(m == 1 || batch / m >= 4);
    for (std::int64_t larger = m + 1; larger <= std::min<std::int64_t>(64, batch / 4); ++larger) {
      EXPECT_NE(batch % larger, 0);
    }
  }
}

TEST(BatchPlan, WeightOfABatchIsThatOfItsRequests) {
  pipeline::SampleSet samples;
  for (SampleId id = 0; id < 10; ++id) {
    samples.ids.push_back(id);
    samples.weights.push_back(1);
  }
  const BatchPlan plan = plan_batches(10, 4, 4, 5, 0, 1);
  EXPECT_EQ(weight_of_batch(plan, pipeline::Sampler(samples, 1), 0), 4);
  for (std::size_t i = 0; i < 10; ++i) samples.weights[i] = static_cast<float>(i);
  const pipeline::Sampler sampler(samples, 1);
  double sum = 0;
  for (std::int64_t step = 0; step < 5; ++step) {
    double requested = 0;
    for (const auto& r : sampler.requests(static_cast<std::uint64_t>(step) * 4, 4))
      requested += r.weight;
    EXPECT_EQ(weight_of_batch(plan, sampler, step), requested);
    sum += requested;
  }
  EXPECT_EQ(sum, 90);  // five batches of four are two epochs of 45
}

}  // namespace
}  // namespace winnow::train
