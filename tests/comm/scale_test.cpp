// Every schedule at numbers of ranks that no test machine has, by the symbolic checker.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "common/comm/schedule/schedule.h"
#include "tests/comm/expect_all_reduce.h"

namespace winnow::comm {
namespace {

// A ring of p ranks has 2 p (p-1) messages.
bool is_square(const Schedule& schedule) { return schedule.name == "ring"; }

TEST(Scale, EveryNumberOfRanksTo512) {
  for (const Schedule& schedule : schedules()) {
    for (int ranks = 65; ranks <= 512; ranks += is_square(schedule) ? 31 : 1) {
      expect_all_reduce(schedule, ranks, 131, {.segment_elements = 40});
    }
  }
}

TEST(Scale, EveryNumberOfColorsAndChildrenTo512) {
  const Schedule& schedule = find_schedule("multicolor");
  for (int ranks = 65; ranks <= 512; ranks += 3) {
    for (const int colors : {1, 2, 3, 8}) {
      for (const int children : {0, 1, 2, 3, 4, 8}) {
        if (children == 1 && ranks % 9 != 0) continue;
        expect_all_reduce(schedule, ranks, 131,
                          {.colors = colors, .children = children, .segment_elements = 100});
      }
    }
  }
}

TEST(Scale, SomeNumbersOfRanksTo4096) {
  for (const Schedule& schedule : schedules()) {
    if (is_square(schedule)) continue;
    for (const int ranks : {1000, 1024, 1531, 2047, 3001, 4096}) {
      expect_all_reduce(schedule, ranks, 64, {.segment_elements = 40});
    }
  }
}

}  // namespace
}  // namespace winnow::comm
