#include "common/comm/network_probe.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/mpi/mpi_test.h"

namespace winnow::comm::network_probe_test {

TEST(NetworkProbe, IsTheSameOnAllRanksAndCostsSomething) {
  if (mpi_world().size() == 1) GTEST_SKIP() << "one rank has no network";
  const NetworkModel network = probe_network(mpi_world());
  const std::vector<double> mine{network.inside.latency_s,        network.inside.message_s,
                                 network.inside.seconds_per_byte, network.between.latency_s,
                                 network.between.message_s,       network.between.seconds_per_byte,
                                 network.add_seconds_per_byte};
  std::vector<double> of_root = mine;
  mpi_world().broadcast(std::as_writable_bytes(std::span(of_root)), 0);
  EXPECT_EQ(mine, of_root);
  for (const LinkCost& link : {network.inside, network.between}) {
    EXPECT_GE(link.latency_s, 0);
    EXPECT_GE(link.message_s, 0);
    EXPECT_GT(link.latency_s + link.message_s, 0);
    EXPECT_LT(link.latency_s, 1);
    EXPECT_GE(link.seconds_per_byte, 0);  // 0 if other work hides it
    EXPECT_LT(link.seconds_per_byte, 1e-6);
    EXPECT_GE(link.processor_s_per_byte, 0);
    EXPECT_LT(link.processor_s_per_byte, 1e-6);
  }
  EXPECT_GT(network.add_seconds_per_byte, 1e-12);
  EXPECT_EQ(network.cards, 1);
  EXPECT_TRUE(network.longest_message == 0 || network.longest_message == 1 << 19);
  // The engine still works after the probe.
  std::vector<float> buffer{1, 2};
  const auto transfers = find_schedule("ring").all_reduce(mpi_world().placement(), 2, {});
  mpi_world().start_all_reduce(buffer, transfers).wait();
  const auto ranks = static_cast<float>(mpi_world().size());
  EXPECT_EQ(buffer, (std::vector<float>{ranks, 2 * ranks}));
}

}  // namespace winnow::comm::network_probe_test
