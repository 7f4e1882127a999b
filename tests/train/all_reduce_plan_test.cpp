// The schedule of each all-reduce of a step, and the size of buckets.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "learner.h"
#include "train/plan/bucket_size.h"
#include "train/plan/execution.h"
#include "train/run/start/node_times.h"

namespace winnow::train::all_reduce_plan_test {

TEST(ScheduleOf, IsTheFirstThatIsLargeEnough) {
  const Layout layout{
      .schedule = "ring",
      .smaller = {{10, "recursive_doubling", {}}, {1000, "multicolor", {.colors = 2}}}};
  EXPECT_EQ(schedule_of(layout, 1).schedule, "recursive_doubling");
  EXPECT_EQ(schedule_of(layout, 10).schedule, "recursive_doubling");
  EXPECT_EQ(schedule_of(layout, 11).schedule, "multicolor");
  EXPECT_EQ(schedule_of(layout, 11).options.colors, 2);
  EXPECT_EQ(schedule_of(layout, 1000).schedule, "multicolor");
  EXPECT_EQ(schedule_of(layout, 1001).schedule, "ring");
}

// Two machines of two ranks. Only large buckets go through shared memory.
TEST(PlanExecution, GivesEachBucketTheScheduleOfItsSize) {
  const Graph graph = training_graph("resnet20", 2);
  RunPlan plan = cut_into({1}, 16 << 10);
  plan.layout.ranks.assign(4, plan.layout.ranks[0]);
  const GradientLayout gradients = layout_gradients(graph, plan.layout.bucket_bytes, kTailCount);
  const std::vector<std::size_t> counts = bucket_counts(gradients, Sums::kFloats);
  const std::size_t largest = *std::ranges::max_element(counts);
  plan.layout.schedule = "hierarchical";
  plan.layout.smaller = {{largest - 1, "ring", {}}};
  const comm::Placement placement{1, {0, 0, 1, 1}};
  const auto ring = [&](std::size_t count) {
    return comm::find_schedule("ring").all_reduce(placement, count, {});
  };
  const Execution mixed = plan_execution(plan, graph, placement, false);
  std::size_t shared = 0;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    EXPECT_EQ(mixed.transfers.parts.contains(b), counts[b] == largest) << b;
    EXPECT_EQ(mixed.transfers.buckets[b],
              counts[b] == largest ? std::vector<comm::Transfer>{} : ring(counts[b]));
    shared += mixed.transfers.parts.contains(b);
  }
  EXPECT_GE(shared, 1U);
  EXPECT_LT(shared, counts.size());
  // Whole numbers, and their exponents, are sent as messages whatever the size.
  plan.numerics.sums = Sums::kWholeNumbers;
  const Execution whole = plan_execution(plan, graph, placement, false);
  EXPECT_TRUE(whole.transfers.parts.empty());
  EXPECT_EQ(whole.transfers.exponents, ring(exponent_count(gradients)));
  EXPECT_NE(digest_of_transfers(whole.transfers), digest_of_transfers(mixed.transfers));
}

TEST(BucketCounts, LeaveOutTheTailWhereMessagesAreOfBF16) {
  const Graph graph = training_graph("lenet", 2);
  const GradientLayout gradients = layout_gradients(graph, 4096, kTailCount);
  std::vector<std::size_t> counts = bucket_counts(gradients, Sums::kFloats);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), gradients.elements);
  counts.back() -= kTailCount;
  EXPECT_EQ(bucket_counts(gradients, Sums::kBF16Messages), counts);
}

class BucketSize : public ::testing::Test {
 protected:
  // Each node takes a second.
  std::vector<double> node_ends() const {
    std::vector<double> ends(graph_.nodes.size());
    std::iota(ends.begin(), ends.end(), 1.0);
    return ends;
  }
  std::size_t chosen(const AllReduceSeconds& seconds) const {
    return choose_bucket_bytes(graph_, Sums::kFloats, node_ends(), seconds);
  }
  const Graph graph_ = training_graph("resnet20", 2);
};

TEST_F(BucketSize, LeavesTheLeastToWaitFor) {
  for (const double each : {0.0, 0.5, 5.0, 500.0}) {
    for (const double of_element : {0.0, 1e-6, 1e-4, 1e-2}) {
      const AllReduceSeconds seconds = [&](std::size_t count) {
        return each + of_element * static_cast<double>(count);
      };
      const auto exposed = [&](std::size_t bytes) {
        return exposed_seconds(graph_, bytes, Sums::kFloats, node_ends(), seconds);
      };
      const double least = exposed(chosen(seconds));
      for (std::size_t bytes = 64 << 10; bytes <= 64 << 20; bytes *= 4) {
        EXPECT_LE(least, exposed(bytes)) << each << " " << of_element << " " << bytes;
      }
    }
  }
}

TEST_F(BucketSize, IsLargeWhereMessagesCostAndSmallWhereBytesDo) {
  EXPECT_EQ(chosen([](std::size_t) { return 1000.0; }), std::size_t{64} << 20);
  EXPECT_EQ(chosen([](std::size_t count) { return 1e-3 * static_cast<double>(count); }),
            std::size_t{64} << 10);
}

// A single bucket is reduced after all nodes; several begin as soon as they are complete.
TEST_F(BucketSize, WhatIsExposedIsWhatOutlastsTheBackwardPass) {
  const AllReduceSeconds seconds = [](std::size_t) { return 7.0; };
  const auto exposed = [&](std::size_t bytes) {
    return exposed_seconds(graph_, bytes, Sums::kFloats, node_ends(), seconds);
  };
  EXPECT_DOUBLE_EQ(exposed(std::size_t{1} << 30), 7.0);
  const GradientLayout gradients = layout_gradients(graph_, 64 << 10, kTailCount);
  double end = 0;
  for (const auto& bucket : gradients.buckets) {
    end = std::max(end, static_cast<double>(bucket.ready_after)) + 7.0;
  }
  EXPECT_DOUBLE_EQ(exposed(64 << 10), end - static_cast<double>(graph_.nodes.size()));
}

TEST(NodeTimes, AreOfEachNodeInItsOrder) {
  const std::unique_ptr<Backend> backend = make_reference_backend();
  const Graph graph = training_graph("lenet", 2);
  const std::vector<double> ends = measure_node_ends(*backend, graph, {});
  ASSERT_EQ(ends.size(), graph.nodes.size());
  EXPECT_GT(ends.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(ends));
}

}  // namespace winnow::train::all_reduce_plan_test
