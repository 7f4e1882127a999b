#include "app/plan/scaling.h"

#include <gtest/gtest.h>

#include "train/plan/bucket_size.h"
#include "train/plan/machines.h"
#include "train/rewrites/rewrites.h"
#include "train/run/record/setup.h"

namespace winnow::app::scaling_test {

// LeNet in micro-batches of 8. Each of its nodes takes 10 ms.
class Scaling : public testing::Test {
 protected:
  Scaling() {
    run_.graph = &graph_;
    run_.node_ends.clear();
    for (std::size_t node = 1; node <= graph_.nodes.size(); ++node) {
      run_.node_ends.push_back(0.01 * static_cast<double>(node));
    }
    const double micro = run_.node_ends.back();
    run_.form = {.micro_batch = 8, .micro_batches = 16, .lanes = 1};
    run_.step = {.forward = 16 * micro / 3, .backward = 16 * micro * 2 / 3, .update = 0.02};
    run_.batch = 128;
    run_.steps_per_epoch = 100;
    run_.time = {.start = 1, .evaluation = 5, .epochs = 10};
  }

  static train::Graph make_graph() {
    const train::NetSetup setup{{.name = "lenet"},
                                {.batch = 8,
                                 .channels = 1,
                                 .height_px = 28,
                                 .width_px = 28,
                                 .classes = 10,
                                 .mean = {0.5F},
                                 .stddev = {0.25F},
                                 .loss = {}}};
    return train::prune(train::differentiate(train::forward_graph(setup)));
  }
  static comm::NetworkModel network(double bytes_per_second, double latency_s) {
    const comm::LinkCost link{.latency_s = latency_s, .seconds_per_byte = 1 / bytes_per_second};
    return {.between = link, .inside = link, .add_seconds_per_byte = 1e-10};
  }

  const train::Graph graph_ = make_graph();
  ScaledRun run_;
};

TEST_F(Scaling, OneMachineIsWhatWasMeasured) {
  const PlanScaling found = scale(run_, {1}, network(1e9, 1e-5), "here");
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(found.rows[0].step->total(), run_.step.total());
  EXPECT_DOUBLE_EQ(found.rows[0].efficiency, 1);
  EXPECT_DOUBLE_EQ(found.rows[0].lemma_efficiency, 1);
  EXPECT_EQ(found.rows[0].step->ranks, 0);
}

TEST_F(Scaling, OverAFastNetworkItIsTheLemma) {
  const PlanScaling found = scale(run_, {1, 2, 4, 8, 16}, network(1e15, 1e-12), "fast");
  for (const PlanHosts& row : found.rows) {
    EXPECT_NEAR(row.efficiency, train::scaling_efficiency(found.overhead, row.hosts), 0.01);
    EXPECT_NEAR(row.efficiency, row.lemma_efficiency, 0.01);
  }
  EXPECT_EQ(found.knee, found.rows.size() - 1);
}

TEST_F(Scaling, ASlowNetworkShowsAndMoreOfItHides) {
  const PlanScaling slow = scale(run_, {1, 2, 4, 8}, network(1e5, 1e-4), "slow");
  const PlanScaling fast = scale(run_, {1, 2, 4, 8}, network(1e8, 1e-4), "fast");
  EXPECT_GT(slow.rows[2].step->ranks, fast.rows[2].step->ranks);
  EXPECT_LT(slow.rows[2].efficiency, fast.rows[2].efficiency);
  EXPECT_LT(slow.rows[2].efficiency, slow.rows[2].lemma_efficiency);
  EXPECT_LE(slow.knee, fast.knee);
  ASSERT_TRUE(slow.network.hiding_bytes_per_second);
  run_.bucket_bytes = slow.rows.back().bucket_bytes;
  const PlanScaling hidden =
      scale(run_, {1, 8}, network(1.01 * *slow.network.hiding_bytes_per_second, 1e-4), "enough");
  EXPECT_LT(hidden.rows[1].step->ranks, 0.02 * hidden.rows[1].step->total());
}

TEST_F(Scaling, MessagesBehindComputingTakeProcessorTimeUnlessCoresAreLeft) {
  comm::NetworkModel messages = network(1e8, 1e-5);
  const double free = scale(run_, {1, 4}, messages, "here").rows[1].step->total();
  messages.between.processor_s_per_byte = 5e-9;
  const auto step_with = [&](double cores, int threads) {
    run_.cores = cores;
    run_.threads = threads;
    return scale(run_, {1, 4}, messages, "here").rows[1].step->total();
  };
  const double full = step_with(1, 1) - free;
  EXPECT_GT(full, 0);
  EXPECT_NEAR(step_with(0.5, 1) - free, 2 * full, 1e-9);
  EXPECT_NEAR(step_with(4, 4) - free, full / 4, 1e-9);
  EXPECT_DOUBLE_EQ(step_with(4, 3), free);
}

TEST_F(Scaling, MoreMachinesThanMicroBatchesAreSaid) {
  const PlanScaling found = scale(run_, {16, 17}, network(1e9, 1e-5), "here");
  EXPECT_TRUE(found.rows[0].step);
  EXPECT_FALSE(found.rows[1].step);
}

TEST_F(Scaling, PriceIsOfAllMachinesForTheWholeRun) {
  run_.hour_price = 3.6;  // a thousandth per second
  const PlanScaling found = scale(run_, {1, 4}, network(1e9, 1e-5), "here");
  for (const PlanHosts& row : found.rows) {
    EXPECT_NEAR(*row.price, 0.001 * row.hosts * row.run_seconds, 1e-9);
  }
}

}  // namespace winnow::app::scaling_test
