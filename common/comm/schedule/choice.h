#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "common/comm/schedule/clock.h"
#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Describes an all-reduce for cost estimates: the machine of each rank, and the buffer.
struct AllReduceShape {
  std::span<const int> node_of;
  std::size_t count = 0;          // elements
  std::size_t element_bytes = 4;  // bytes in messages; additions always cost as for f32
};

double predicted_seconds(const Schedule& schedule, const ScheduleOptions& options,
                         const AllReduceShape& shape, const NetworkModel& network);

// Name of no schedule: choose_schedule() decides.
inline constexpr std::string_view kAutoSchedule = "auto";

// The name of the default schedule for ranks that are all on one machine, without measurements.
std::string_view schedule_inside(bool over_shared_memory) noexcept;

struct ScheduleChoice {
  const Schedule* schedule = nullptr;
  ScheduleOptions options{};
  double seconds = 0;  // predicted
};

// The schedule (algorithm) and options with which an all-reduce is fastest by the cost model
// (clock.h).
// without  Name of a schedule that is left out.
// Tries    Trees of 2, 4 and 8 colours. Segments of 8,192 elements and powers of four up to the
//          whole buffer or the network's longest message.
// Ties     Go to the first of schedules().
// Pure. Takes some seconds for hundreds of ranks and megabytes.
ScheduleChoice choose_schedule(const AllReduceShape& shape, const NetworkModel& network,
                               std::string_view without = {});

// Lower bound in seconds for any all-reduce: one latency, and the time for 2(n-1)/n of the bytes.
// Counted between n machines through their network cards, or between the n ranks of one machine
// (Patarasuk and Yuan 2009).
double least_seconds(const AllReduceShape& shape, const NetworkModel& network);

}  // namespace winnow::comm
