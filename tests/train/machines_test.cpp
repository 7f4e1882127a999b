#include "train/plan/machines.h"

#include <gtest/gtest.h>

namespace winnow::train::machines_test {

TEST(Machines, ATenthOfOverheadAllowsThreeMachinesAtFourFifths) {
  EXPECT_EQ(most_machines(0.1, 0.8), 3);
  EXPECT_NEAR(scaling_efficiency(0.1, 4), 0.786, 0.0005);
  EXPECT_GE(scaling_efficiency(0.1, 3), 0.8);
}

TEST(Machines, TheMostMachinesAreTheLastThatAreEfficientEnough) {
  for (const double overhead : {0.001, 0.02, 0.3, 1.0, 5.0}) {
    for (const double efficiency : {0.1, 0.5, 0.8, 0.95, 1.0}) {
      const auto most = most_machines(overhead, efficiency);
      ASSERT_TRUE(most);
      EXPECT_GE(scaling_efficiency(overhead, static_cast<double>(*most)), efficiency * (1 - 1e-9));
      EXPECT_LT(scaling_efficiency(overhead, static_cast<double>(*most + 1)), efficiency);
    }
  }
}

TEST(Machines, NoOverheadLimitsNothing) {
  EXPECT_EQ(most_machines(0, 0.8), std::nullopt);
  EXPECT_EQ(most_machines(0, 1), std::nullopt);
  EXPECT_EQ(scaling_efficiency(0, 64), 1);
}

TEST(Machines, TheOverheadThatAnEfficiencyNeedsGivesIt) {
  for (const double machines : {2.0, 4.0, 64.0}) {
    const auto overhead = most_overhead(0.8, machines);
    ASSERT_TRUE(overhead);
    EXPECT_NEAR(scaling_efficiency(*overhead, machines), 0.8, 1e-12);
  }
  EXPECT_EQ(most_overhead(0.8, 1), std::nullopt);  // one machine is always as fast as itself
  EXPECT_EQ(most_overhead(0.25, 4), std::nullopt);
}

TEST(Machines, ParameterServersCarryTheTrafficOfAllWorkers) {
  // 100 MB to and from 4 workers are 0.8 GB. A server carries 0.1 GB during a step of 1 s.
  EXPECT_EQ(parameter_servers({100e6, 4, 0.1e9, 1}), 8);
  EXPECT_EQ(parameter_servers({100e6 + 1, 4, 0.1e9, 1}), 9);
  EXPECT_EQ(parameter_servers({1, 1, 1e9, 1}), 1);
}

}  // namespace winnow::train::machines_test
