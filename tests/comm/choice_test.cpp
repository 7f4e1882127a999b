#include "common/comm/schedule/choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "common/comm/schedule/hierarchical.h"

namespace winnow::comm::choice_test {

std::vector<int> apart(int ranks) {
  std::vector<int> node_of(static_cast<std::size_t>(ranks));
  std::iota(node_of.begin(), node_of.end(), 0);
  return node_of;
}

constexpr LinkCost k10GbE{.latency_s = 25e-6, .message_s = 2e-6, .seconds_per_byte = 8e-10};
constexpr LinkCost kMemory{.latency_s = 1e-6, .message_s = 0, .seconds_per_byte = 1e-10};
constexpr NetworkModel kNetwork{
    .between = k10GbE, .inside = kMemory, .add_seconds_per_byte = 1e-10};

TEST(Choice, IsTheFastestOfAllThatTheClockKnows) {
  for (const int ranks : {2, 3, 4, 6, 8}) {
    const std::vector<int> node_of = apart(ranks);
    for (const std::size_t count : {1UL, 1000UL, 250'000UL}) {
      const AllReduceShape shape{.node_of = node_of, .count = count};
      const ScheduleChoice best = choose_schedule(shape, kNetwork);
      ASSERT_NE(best.schedule, nullptr);
      EXPECT_DOUBLE_EQ(best.seconds,
                       predicted_seconds(*best.schedule, best.options, shape, kNetwork));
      for (const Schedule& schedule : schedules()) {
        for (const int colors : {2, 4, 8}) {
          const ScheduleOptions options{.colors = colors, .segment_elements = 8192};
          EXPECT_LE(best.seconds, predicted_seconds(schedule, options, shape, kNetwork))
              << schedule.name << ", " << ranks << " ranks, " << count;
        }
      }
      EXPECT_GE(best.seconds, least_seconds(shape, kNetwork)) << ranks << " ranks, " << count;
    }
  }
}

TEST(Choice, SmallBuffersWantFewHopsAndLargeOnesLittleTraffic) {
  const std::vector<int> node_of = apart(8);
  const auto chosen = [&](std::size_t count) {
    return choose_schedule({.node_of = node_of, .count = count}, kNetwork);
  };
  // Eight trees of one element each: two hops, seven messages.
  EXPECT_EQ(chosen(8).options.colors, 8);
  EXPECT_LT(chosen(8).seconds, 2 * 25e-6 + 2 * 7 * 2.1e-6);
  const std::size_t large = 4'000'000;
  const double bound = least_seconds({.node_of = node_of, .count = large}, kNetwork);
  EXPECT_LT(chosen(large).seconds, 1.15 * bound);
}

TEST(Choice, KeepsBytesInsideMachinesThatShareACard) {
  const std::vector<int> node_of{0, 0, 0, 0, 1, 1, 1, 1};
  const AllReduceShape shape{.node_of = node_of, .count = 2'000'000};
  const ScheduleChoice best = choose_schedule(shape, kNetwork);
  EXPECT_EQ(best.schedule->name, "hierarchical");
  EXPECT_LT(best.seconds, 0.7 * predicted_seconds(find_schedule("ring"), {}, shape, kNetwork));
}

// Among the schedules with the least traffic, Rabenseifner's algorithm in one piece has the fewest
// messages.
TEST(Choice, SendsTheWholeBufferAtOnceWhereMessagesCostAndMayBeLong) {
  const std::vector<int> node_of = apart(16);
  const std::size_t count = 4'000'000;
  NetworkModel network{
      .between = {.latency_s = 25e-6, .message_s = 20e-6, .seconds_per_byte = 8e-10},
      .inside = kMemory};
  const AllReduceShape shape{.node_of = node_of, .count = count};
  const ScheduleChoice any = choose_schedule(shape, network);
  EXPECT_EQ(any.schedule->name, "rabenseifner");
  EXPECT_GE(any.options.segment_elements, count / 2);
  network.longest_message = 1 << 19;
  const ScheduleChoice bounded = choose_schedule(shape, network);
  EXPECT_LE(bounded.options.segment_elements * sizeof(float), network.longest_message);
  EXPECT_GT(bounded.seconds, any.seconds);
}

TEST(Choice, LeavesOutWhatCannotBeHad) {
  const std::vector<int> node_of{0, 0, 0, 0, 1, 1, 1, 1};
  const AllReduceShape shape{.node_of = node_of, .count = 2'000'000};
  const ScheduleChoice best = choose_schedule(shape, kNetwork, kHierarchicalSchedule);
  EXPECT_NE(best.schedule->name, kHierarchicalSchedule);
  EXPECT_GT(best.seconds, choose_schedule(shape, kNetwork).seconds);
}

TEST(LeastSeconds, AreOfTheMachinesAndTheirCards) {
  const std::vector<int> two{0, 0, 1, 1};
  NetworkModel network = kNetwork;
  const AllReduceShape shape{.node_of = two, .count = 1000};
  EXPECT_DOUBLE_EQ(least_seconds(shape, network), 25e-6 + 4000 * 8e-10);
  network.cards = 2;
  EXPECT_DOUBLE_EQ(least_seconds(shape, network), 25e-6 + 2000 * 8e-10);
  const std::vector<int> one{0, 0, 0};
  EXPECT_DOUBLE_EQ(least_seconds({.node_of = one, .count = 300}, network),
                   1e-6 + 2 * 2.0 / 3 * 1200 * 1e-10);
}

}  // namespace winnow::comm::choice_test
