#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

struct ScheduleOptions {
  // Trees of the multi-colour schedule; at most the number of ranks.
  int colors = 4;
  // Maximum children of a rank in such a tree; 0: chosen by the colours.
  int children = 0;
  std::size_t segment_elements = 32'768;  // pipelining grain within a colour; longest message

  friend bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

// A schedule for summing a buffer over all ranks. A row of the table in schedule.cpp.
struct Schedule {
  std::string_view name;
  std::string_view what;

  // This rank's transfers for a buffer of `count` elements, ordered by chain, then round. Pure.
  //
  // Out     Empty for one rank or no elements.
  // Errors  Error: the placement has no such rank. UsageError: invalid options.
  std::vector<Transfer> (*all_reduce)(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);
};

std::span<const Schedule> schedules();
const Schedule& find_schedule(std::string_view name);  // UsageError lists the known ones

}  // namespace winnow::comm
