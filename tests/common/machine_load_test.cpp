#include "common/machine_load.h"

#include <gtest/gtest.h>

namespace winnow::machine_load_test {

TEST(MachineLoad, TimeOfAllProcessorsThatIsIdleOrWaitsIsAdded) {
  const auto idle = parse_processors_idle(
      "cpu  30 60 90 1200 150 18 21\ncpu0 10 20 30 400 50 6 7\ncpu1 20 40 60 800 100\nintr 1 2\n");
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->processors, 2);
  EXPECT_EQ(idle->ticks, 400u + 50 + 800 + 100);
}

TEST(MachineLoad, WhatIsNoneIsNone) {
  for (const char* text :
       {"", "cpu 1 2 3 4 5", "cpu0", "cpu0 1 2 3 4", "intr 1 2 3 4 5", "cpu0 x"}) {
    EXPECT_FALSE(parse_processors_idle(text)) << text;
  }
}

TEST(MachineLoad, OfThisMachineIsNoLessThanNothing) {
  const MachineLoad load;
  EXPECT_GE(load.busy_cores(), 0);
  EXPECT_GE(load.own_cores(), 0);
}

}  // namespace winnow::machine_load_test
