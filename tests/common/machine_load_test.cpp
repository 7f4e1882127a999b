#include "common/machine_load.h"

#include <gtest/gtest.h>

namespace winnow::machine_load_test {

TEST(MachineLoad, BusyIsWhatIsNeitherIdleNorWaiting) {
  const auto ticks = parse_processor_ticks("cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3 4");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 10u + 20 + 30 + 6 + 7 + 8);  // guest times are part of the first two
  EXPECT_EQ(ticks->all, ticks->busy + 450);
}

TEST(MachineLoad, OldKernelsHaveFewerFields) {
  const auto ticks = parse_processor_ticks("cpu 1 2 3 4 5");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 6u);
}

TEST(MachineLoad, WhatIsNoneIsNone) {
  for (const char* text : {"", "cpu", "cpu 1 2", "intr 1 2 3 4 5 6 7 8", "cpu x"}) {
    EXPECT_FALSE(parse_processor_ticks(text)) << text;
  }
}

TEST(MachineLoad, OfThisMachineIsNoLessThanNothing) {
  const MachineLoad load;
  EXPECT_GE(load.busy_cores(), 0);
  EXPECT_GE(load.own_cores(), 0);
}

}  // namespace winnow::machine_load_test
