#pragma once

#include <gtest/gtest.h>

#include "tests/comm/check/check.h"
#include "tests/comm/vector_executor.h"

namespace winnow::comm {

// Expects the symbolic checker to find no fault in an all-reduce.
inline void expect_all_reduce(const Schedule& schedule, int ranks, std::size_t count,
                              const ScheduleOptions& options) {
  ASSERT_EQ(check_all_reduce(transfers_of_all(schedule, ranks, count, options), count), "")
      << schedule.name << ", " << ranks << " ranks, " << options.colors << " colours, "
      << options.children << " children, " << count << " elements in segments of "
      << options.segment_elements;
}

}  // namespace winnow::comm
