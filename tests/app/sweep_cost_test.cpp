#include "app/experiment/sweep_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/memory_left.h"

namespace winnow::app::sweep_cost_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// All images at both budgets, which share a run per seed, and a quarter removed, at both.
std::vector<SweepArm> arms() {
  return {{.name = "all", .kept = 900, .epochs = 10, .epoch_images = 900, .jobs = {"a1", "a2"}},
          {.name = "all", .kept = 900, .epochs = 10, .epoch_images = 900, .jobs = {"a1", "a2"}},
          {.name = "r25", .kept = 600, .epochs = 10, .epoch_images = 600, .jobs = {"p1", "p2"}},
          {.name = "r25", .kept = 600, .epochs = 15, .epoch_images = 600, .jobs = {"q1", "q2"}}};
}

TEST(SweepCost, CountsEqualRunsOnceAndLeavesOutWhatIsDone) {
  const RunSpeed speed{.seconds_per_image = 0.001, .peak_bytes = 100 << 20, .disk_bytes = 10 << 20};
  const CostEstimate all =
      estimate_cost(arms(), 300, 1, speed, [](const std::string&) { return false; });
  EXPECT_EQ(all.runs, 6U);
  EXPECT_EQ(all.shared, 2U);
  EXPECT_EQ(all.done, 0U);
  EXPECT_DOUBLE_EQ(all.images, 2 * (9000 + 6000 + 9000));
  // After each epoch 300 images are evaluated, at a third of the cost of training.
  EXPECT_NEAR(all.seconds, 0.001 * 2 * (10 * 1000 + 10 * 700 + 15 * 700), 1e-9);
  EXPECT_NEAR(
      estimate_cost(arms(), 300, 2, speed, [](const std::string&) { return false; }).seconds,
      all.seconds / 2, 1e-9);
  const auto done = [](const std::string& job) { return job != "q2"; };
  const CostEstimate last = estimate_cost(arms(), 300, 2, speed, done);
  EXPECT_EQ(last.done, 5U);
  EXPECT_NEAR(last.seconds, 0.001 * 15 * 700, 1e-9) << "one run is not done by two lanes";
  EXPECT_THAT(
      in_words(last, 2, kNoMemoryLimit),
      ElementsAre(HasSubstr("6 runs (2 more equal one of them, not done again), 5 of them done"),
                  HasSubstr("9,000 images to train on, about 11 s on 2 lanes"),
                  "memory: about 100 MiB a lane, 200 MiB in all"));
  EXPECT_EQ(disk_in_words(last, 30 << 20), "disk: about 10 MiB, of 30 MiB");
  const CostEstimate none =
      estimate_cost(arms(), 300, 2, {}, [](const std::string&) { return true; });
  EXPECT_THAT(in_words(none, 2, 1), ElementsAre(HasSubstr("all of them done")));
  EXPECT_NO_THROW(check_memory(none, 2, 1));
}

TEST(SweepCost, KnowsTheSpeedByRunsThatAreDone) {
  const auto cost_of = [](const std::string& job) -> std::optional<RunCost> {
    if (job == "a1") return RunCost{.seconds = 20, .peak_bytes = 5};
    if (job == "p1") return RunCost{.seconds = 14, .peak_bytes = 7};
    if (job == "p2") return RunCost{};  // it has no measurement
    return std::nullopt;
  };
  // The first two arms share their run.
  const std::optional<RunSpeed> speed = speed_of(arms(), 300, cost_of);
  ASSERT_TRUE(speed);
  EXPECT_NEAR(speed->seconds_per_image, 0.002, 1e-12);
  EXPECT_EQ(speed->peak_bytes, 7U);
  EXPECT_FALSE(speed_of(arms(), 300, [](const std::string&) { return std::nullopt; }));
}

TEST(SweepCost, RunsThatSayNothingTellNoSpeed) {
  SpeedMeter meter;
  EXPECT_FALSE(meter.speed());
  meter.add({.seconds = 0, .peak_bytes = 9, .disk_bytes = 9}, 100);
  EXPECT_FALSE(meter.speed());
  meter.add({.seconds = 3, .peak_bytes = 4, .disk_bytes = 8}, 200);
  meter.add({.seconds = 1, .peak_bytes = 5, .disk_bytes = 7}, 200);
  EXPECT_DOUBLE_EQ(meter.speed()->seconds_per_image, 0.01);
  EXPECT_EQ(meter.speed()->peak_bytes, 5U);
  EXPECT_EQ(meter.speed()->disk_bytes, 8U);
}

TEST(SweepCost, SaysWhatDoesNotFit) {
  const CostEstimate cost{.runs = 6, .done = 1, .lane_bytes = 300, .disk_bytes = 500};
  EXPECT_NO_THROW(check_memory(cost, 3, 900));
  EXPECT_NO_THROW(check_memory(cost, 300, kNoMemoryLimit));
  EXPECT_NO_THROW(check_disk(cost, 500));
  const auto said = [](const std::function<void()>& check) {
    try {
      check();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(said([&] { check_memory(cost, 4, 900); }), HasSubstr("take --lanes 3"));
  EXPECT_THAT(said([&] { check_memory(cost, 1, 200); }), HasSubstr("smaller --micro-batch"));
  EXPECT_THAT(said([&] { check_disk(cost, 499); }),
              HasSubstr("5 runs of about 100 B each do not fit into 499 B of disk"));
}

}  // namespace winnow::app::sweep_cost_test
