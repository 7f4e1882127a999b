#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "common/comm/schedule/clock.h"
#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// The problem of one all-reduce: machines of the ranks, and buffer size.
struct AllReduceShape {
  std::span<const int> node_of;
  std::size_t count = 0;          // elements
  std::size_t element_bytes = 4;  // in a message; additions always cost as for f32
};

double predicted_seconds(const Schedule& schedule, const ScheduleOptions& options,
                         const AllReduceShape& shape, const NetworkModel& network);

// Used in place of a schedule's name: let choose_schedule() decide.
inline constexpr std::string_view kAutoSchedule = "auto";

// The default schedule for the ranks of one machine, without measurements.
std::string_view schedule_inside(bool over_shared_memory) noexcept;

struct ScheduleChoice {
  const Schedule* schedule = nullptr;
  ScheduleOptions options{};
  double seconds = 0;  // predicted
};

// The fastest schedule by the cost model (clock.h), except the one named `without`. Tries colours
// of 2, 4 and 8, and segments of 8,192 elements and powers of four up to the whole buffer or the
// network's longest message. Ties go to the first of schedules(). Pure. Takes some seconds for
// hundreds of ranks and megabytes.
ScheduleChoice choose_schedule(const AllReduceShape& shape, const NetworkModel& network,
                               std::string_view without = {});

// Lower bound for any all-reduce: one latency, and 2(n-1)/n of the bytes, between n machines
// through their network cards, or between the ranks of one machine (Patarasuk and Yuan 2009).
double least_seconds(const AllReduceShape& shape, const NetworkModel& network);

}  // namespace winnow::comm
