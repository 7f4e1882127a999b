#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "common/comm/schedule/choice.h"
#include "train/plan/run_plan.h"

namespace winnow::train {

// Bytes of an element in an all-reduce.
std::size_t message_bytes(Sums sums) noexcept;

// The fastest schedules for one network, by the size of an all-reduce. Sizes up to the same power
// of two share one.
class FastestSchedules {
 public:
  // `node_of`: the machine of each rank. `without`: a schedule that is not available.
  FastestSchedules(const comm::NetworkModel& network, std::span<const int> node_of,
                   std::size_t element_bytes, std::string_view without);

  // For an all-reduce of `count` elements.
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
  std::map<std::size_t, comm::ScheduleChoice> choices_;  // by the largest number of elements
  std::map<std::size_t, double> seconds_;                // by elements
};

}  // namespace winnow::train
