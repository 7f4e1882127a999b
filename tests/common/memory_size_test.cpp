#include "common/memory_size.h"

#include <gtest/gtest.h>

namespace winnow::memory_size_test {

TEST(MemorySize, UnitsArePowersOf1024AndANumberAloneIsOfMib) {
  EXPECT_EQ(parse_mib("8G"), 8192);
  EXPECT_EQ(parse_mib("512M"), 512);
  EXPECT_EQ(parse_mib("512"), 512);
  EXPECT_EQ(parse_mib("1.5g"), 1536);
  EXPECT_EQ(parse_mib("2GiB"), 2048);
  EXPECT_EQ(parse_mib("3GB"), 3072);
  EXPECT_EQ(parse_mib("64mib"), 64);
  EXPECT_EQ(parse_mib("1T"), 1 << 20);
  EXPECT_EQ(parse_mib("0"), 0);
  EXPECT_EQ(parse_mib("0G"), 0);
}

TEST(MemorySize, WhatIsNoneIsRefused) {
  for (const char* text : {"", "G", "eight", "-1", "-0", "8K", "8 G", "8Gb/s", "8GX", "0.1M", "1e3",
                           "nan", "inf", "0x10", "17592186044416M", "8GiBB", "0K"}) {
    EXPECT_EQ(parse_mib(text), std::nullopt) << text;
  }
}

}  // namespace winnow::memory_size_test
