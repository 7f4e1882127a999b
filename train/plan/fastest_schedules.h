#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "common/comm/schedule/choice.h"
#include "train/plan/run_plan.h"

namespace winnow::train {

// Bytes of one element in the messages of an all-reduce.
std::size_t message_bytes(Sums sums) noexcept;

// Finds the fastest all-reduce algorithm (schedule) for a network, by size. Sizes up to the same
// power of two get the same one.
class FastestSchedules {
 public:
  // node_of  The machine of each rank.
  // without  Name of a schedule that is not available.
  FastestSchedules(const comm::NetworkModel& network, std::span<const int> node_of,
                   std::size_t element_bytes, std::string_view without);

  // Returns the fastest schedule for an all-reduce of `count` elements.
  const comm::ScheduleChoice& of(std::size_t count);
  double seconds(std::size_t count);

 private:
  comm::AllReduceShape shape(std::size_t count) const {
    return {.node_of = node_of_, .count = count, .element_bytes = element_bytes_};
  }

  comm::NetworkModel network_;
  std::vector<int> node_of_;
  std::size_t element_bytes_;
  std::string_view without_;
  // Chosen schedules, by the largest number of elements.
  std::map<std::size_t, comm::ScheduleChoice> choices_;
  std::map<std::size_t, double> seconds_;  // estimated seconds, by the number of elements
};

}  // namespace winnow::train
