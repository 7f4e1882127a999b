#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "common/comm/schedule/clock.h"
#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// The ranks, their machines and their buffers of one all-reduce.
struct AllReduceShape {
  std::span<const int> node_of;
  std::size_t count = 0;          // elements
  std::size_t element_bytes = 4;  // of a message; an addition costs as one of f32 in any case
};

double predicted_seconds(const Schedule& schedule, const ScheduleOptions& options,
                         const AllReduceShape& shape, const NetworkModel& network);

// In the place of a schedule's name: the one that choose_schedule() takes.
inline constexpr std::string_view kAutoSchedule = "auto";

// The one for the ranks of one machine, where nothing is measured.
std::string_view schedule_inside(bool over_shared_memory) noexcept;

struct ScheduleChoice {
  const Schedule* schedule = nullptr;
  ScheduleOptions options{};
  double seconds = 0;  // predicted
};

// The fastest by the clock of all schedules but the one named `without`, colours of 2, 4 and 8, and
// segments of 8,192 elements and by powers of four up to the whole buffer, or to network's longest
// message. Where several are equally fast, the first of schedules(). Pure. Takes some seconds for
// hundreds of ranks and megabytes.
ScheduleChoice choose_schedule(const AllReduceShape& shape, const NetworkModel& network,
                               std::string_view without = {});

// No all-reduce is faster: one latency, and 2(n-1)/n of the bytes between n machines through their
// cards, or of the ranks of one (Patarasuk and Yuan 2009).
double least_seconds(const AllReduceShape& shape, const NetworkModel& network);

}  // namespace winnow::comm
