#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

struct ScheduleOptions {
  int colors = 4;                         // trees of the multi-colour schedule; clamped to ranks
  int children = 0;                       // of a rank in such a tree, at most; 0: by the colours
  std::size_t segment_elements = 32'768;  // pipelining grain inside a colour; longest message

  friend bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

// One way to sum a buffer over all ranks. A row of the table in schedule.cpp.
struct Schedule {
  std::string_view name;
  std::string_view what;

  // This rank's transfers for a buffer of `count` elements, ordered by chain, then round. Pure.
  //
  // Out     every rank is in every chain; empty for one rank or no elements
  // Throws  Error: the placement has no such rank. UsageError: options that cannot be
  std::vector<Transfer> (*all_reduce)(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);
};

std::span<const Schedule> schedules();
const Schedule& find_schedule(std::string_view name);  // UsageError naming the known ones

}  // namespace winnow::comm
