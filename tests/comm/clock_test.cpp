#include "common/comm/schedule/clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/comm/schedule/multicolor.h"
#include "common/comm/schedule/schedule.h"
#include "common/error.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm::clock_test {

using Kind = Transfer::Kind;

std::vector<int> apart(int ranks) {
  std::vector<int> node_of;
  for (int rank = 0; rank < ranks; ++rank) node_of.push_back(rank);
  return node_of;
}

constexpr double kAlpha = 25e-6, kBeta = 8e-10, kGamma = 1e-10;
constexpr NetworkModel kNetwork{.between = {.latency_s = kAlpha, .seconds_per_byte = kBeta},
                                .add_seconds_per_byte = kGamma};

double seconds(std::string_view schedule, int ranks, std::size_t count,
               const ScheduleOptions& options, const NetworkModel& network = kNetwork) {
  return predicted_seconds(transfers_of_all(find_schedule(schedule), ranks, count, options),
                           apart(ranks), 4, network);
}

TEST(Clock, AMessageTakesItsLatencyAndItsBytes) {
  const std::vector<std::vector<Transfer>> one{{{Kind::kSend, 1, 0, 0, 0, 1000}},
                                               {{Kind::kReceiveAdd, 0, 0, 0, 0, 1000}}};
  EXPECT_DOUBLE_EQ(predicted_seconds(one, apart(2), 4, kNetwork),
                   kAlpha + 4000 * kBeta + 4000 * kGamma);
}

TEST(Clock, PortsPassOneMessageAtATime) {
  // Two ranks send to a third at the same time.
  const std::vector<std::vector<Transfer>> both{
      {{Kind::kSend, 2, 0, 0, 0, 1000}},
      {{Kind::kSend, 2, 0, 0, 0, 1000}},
      {{Kind::kReceiveAdd, 0, 0, 0, 0, 1000}, {Kind::kReceiveAdd, 1, 0, 0, 0, 1000}}};
  EXPECT_DOUBLE_EQ(predicted_seconds(both, apart(3), 4, kNetwork),
                   kAlpha + 8000 * kBeta + 8000 * kGamma);
  // The senders are on one machine, first without and then with a cost per message.
  const std::vector<int> node_of{0, 0, 1};
  NetworkModel network = kNetwork;
  EXPECT_DOUBLE_EQ(predicted_seconds(both, node_of, 4, network),
                   kAlpha + 8000 * kBeta + 8000 * kGamma);
  network.between.message_s = 1e-6;
  EXPECT_DOUBLE_EQ(predicted_seconds(both, node_of, 4, network),
                   kAlpha + 8000 * kBeta + 8000 * kGamma + 2e-6);
}

TEST(Clock, MessagesInsideAMachineHaveTheirOwnPrice) {
  const std::vector<std::vector<Transfer>> one{{{Kind::kSend, 1, 0, 0, 0, 1000}},
                                               {{Kind::kReceiveCopy, 0, 0, 0, 0, 1000}}};
  NetworkModel network = kNetwork;
  network.inside = {.latency_s = 1e-6, .seconds_per_byte = 1e-11};
  const std::vector<int> together{0, 0};
  EXPECT_DOUBLE_EQ(predicted_seconds(one, together, 4, network), 1e-6 + 4000 * 1e-11);
}

TEST(Clock, FindsRanksThatWaitForEver) {
  const std::vector<std::vector<Transfer>> stuck{{{Kind::kReceiveAdd, 1, 0, 0, 0, 2}},
                                                 {{Kind::kReceiveAdd, 0, 0, 0, 0, 2}}};
  EXPECT_THROW(predicted_seconds(stuck, apart(2), 4, kNetwork), Error);
  EXPECT_THROW(predicted_seconds(stuck, apart(3), 4, kNetwork), Error);
}

// In a single chain: 2(p-1) hops of 1/p of the buffer, half of them with an addition.
TEST(Clock, RingTakesItsClosedForm) {
  for (const int ranks : {2, 3, 5, 8, 48}) {
    const std::size_t block = 10'000;
    const double bytes = 4.0 * static_cast<double>(block);
    const double hops = ranks - 1;
    EXPECT_NEAR(seconds("ring", ranks, block * static_cast<std::size_t>(ranks),
                        {.segment_elements = block}),
                hops * (2 * (kAlpha + bytes * kBeta) + bytes * kGamma), 1e-9);
  }
}

TEST(Clock, RecursiveDoublingTakesItsClosedForm) {
  for (const int ranks : {2, 4, 8, 64}) {
    const double bytes = 4e4;
    EXPECT_NEAR(seconds("recursive_doubling", ranks, 10'000, {.segment_elements = 10'000}),
                std::log2(ranks) * (kAlpha + bytes * (kBeta + kGamma)), 1e-9);
  }
}

TEST(Clock, RabenseifnerTakesItsClosedForm) {
  for (const int ranks : {2, 4, 8, 64}) {
    const std::size_t count = 64'000;
    const double bytes = 4.0 * static_cast<double>(count) * (ranks - 1) / ranks;
    EXPECT_NEAR(seconds("rabenseifner", ranks, count, {.segment_elements = count}),
                2 * (std::log2(ranks) * kAlpha + bytes * kBeta) + bytes * kGamma, 1e-9);
  }
}

// (m + D)(alpha + X beta / m), where X = 2(p-1)/p of the buffer, D = 2d - 1 and d is the depth of
// the trees. Additions hide behind messages.
TEST(Clock, MulticolorTakesItsClosedFormAtTheBestSegment) {
  for (const auto& [ranks, depth] : {std::pair{8, 2}, {16, 2}, {64, 3}}) {
    const std::size_t count = 25'600'000;
    const double traffic = 4.0 * static_cast<double>(count) * 2 * (ranks - 1) / ranks;
    const double hops = 2 * depth - 1;
    const double segments = std::sqrt(traffic * kBeta * hops / kAlpha);
    const auto segment = static_cast<std::size_t>(static_cast<double>(count) / 4 / segments);
    const double expected = (segments + hops) * (kAlpha + traffic * kBeta / segments);
    EXPECT_NEAR(seconds("multicolor", ranks, count, {.segment_elements = segment}) / expected, 1,
                0.05)
        << ranks << " ranks";
  }
}

// The ranks of a machine share its link. With one card for each, two ranks are nearly twice as
// fast.
TEST(Clock, HierarchicalUsesEveryCard) {
  const std::vector<int> node_of{0, 0, 1, 1, 2, 2, 3, 3};
  std::vector<std::vector<Transfer>> transfers;
  for (int rank = 0; rank < 8; ++rank) {
    transfers.push_back(find_schedule("hierarchical")
                            .all_reduce({rank, node_of}, 4'000'000, {.segment_elements = 16'384}));
  }
  NetworkModel network = kNetwork;
  network.inside = {.latency_s = 1e-6, .seconds_per_byte = 1e-11};
  network.add_seconds_per_byte = 0;
  const double one = predicted_seconds(transfers, node_of, 4, network);
  network.cards = 2;
  const double two = predicted_seconds(transfers, node_of, 4, network);
  EXPECT_GT(one / two, 1.7);
  EXPECT_LT(one / two, 2.001);
}

}  // namespace winnow::comm::clock_test
