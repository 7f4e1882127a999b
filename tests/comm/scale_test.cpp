// Every schedule at numbers of ranks that no test machine has, with the symbolic checker.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "common/comm/schedule/schedule.h"
#include "tests/comm/expect_all_reduce.h"
#include "tests/common/some_of.h"

namespace winnow::comm::scale_test {

// A ring of p ranks has 2 p (p-1) messages.
bool is_square(const Schedule& schedule) { return schedule.name == "ring"; }

// Numbers of ranks from 65 to 512.
std::vector<int> numbers_of_ranks(int step) {
  std::vector<int> all;
  for (int ranks = 65; ranks <= 512; ranks += step) all.push_back(ranks);
  return all;
}

TEST(Scale, EveryNumberOfRanksTo512) {
  for (const Schedule& schedule : schedules()) {
    const bool slow = is_square(schedule);
    for (const int ranks : test::some_of("numbers of ranks of " + std::string(schedule.name),
                                         numbers_of_ranks(slow ? 31 : 1), slow ? 5 : 45)) {
      expect_all_reduce(schedule, ranks, 131, {.segment_elements = 40});
    }
    if (slow) continue;
    for (const int power : {128, 256, 512}) {
      expect_all_reduce(schedule, power, 131, {.segment_elements = 40});
    }
  }
}

TEST(Scale, EveryNumberOfColorsAndChildrenTo512) {
  const Schedule& schedule = find_schedule("multicolor");
  struct Case {
    int ranks, colors, children;
  };
  std::vector<Case> all;
  for (const int ranks : numbers_of_ranks(3)) {
    for (const int colors : {1, 2, 3, 8}) {
      for (const int children : {0, 1, 2, 3, 4, 8}) {
        if (children != 1 || ranks % 9 == 0) all.push_back({ranks, colors, children});
      }
    }
  }
  // This many cases include every number of colors and of children.
  for (const auto& [ranks, colors, children] :
       test::some_of("numbers of ranks, colors and children", all, 300)) {
    expect_all_reduce(schedule, ranks, 131,
                      {.colors = colors, .children = children, .segment_elements = 100});
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

}  // namespace winnow::comm::scale_test
