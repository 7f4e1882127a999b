#include "common/comm/schedule/arguments.h"

#include <limits>
#include <string>

#include "common/error.h"

namespace winnow::comm {

void check_arguments(int rank, int ranks, const ScheduleOptions& options) {
  if (rank < 0 || rank >= ranks) {
    throw Error("a schedule was requested for rank " + std::to_string(rank) + " of " +
                std::to_string(ranks) + " ranks; ranks count from 0");
  }
  if (options.colors < 1) {
    throw UsageError("a schedule needs at least 1 tree (colour), not " +
                     std::to_string(options.colors));
  }
  if (options.children < 0) {
    throw UsageError(
        "a node of a tree needs at least 1 child, or 0 to let the schedule choose, not " +
        std::to_string(options.children));
  }
  if (options.segment_elements < 1) {
    throw UsageError("a schedule needs segments of at least 1 element");
  }
}

int checked_chains(std::size_t count) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw UsageError("an all-reduce would be cut into " + std::to_string(count) +
                     " segments; choose a larger segment size");
  }
  return static_cast<int>(count);
}

}  // namespace winnow::comm
