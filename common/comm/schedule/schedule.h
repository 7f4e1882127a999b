#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

struct ScheduleOptions {
  // Number of trees of the multi-colour schedule; at most the number of ranks.
  int colors = 4;
  // Maximum number of children of a rank in a tree of the multi-colour schedule; 0: chosen by
  // `colors`.
  int children = 0;
  std::size_t segment_elements = 32'768;  // length of pipelined pieces; longest message

  friend bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

// A schedule: an algorithm for all-reduces (sums of a buffer over all ranks), as a list of
// transfers.
struct Schedule {
  std::string_view name;
  std::string_view what;

  // The transfers of this rank for a buffer of `count` elements, ordered by chain, then round.
  // Pure.
  //
  // Out     Empty for one rank or no elements.
  // Errors  Error: the placement has no such rank. UsageError: invalid options.
  std::vector<Transfer> (*all_reduce)(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);
};

std::span<const Schedule> schedules();
// The schedule of this name. Throws UsageError, which lists the known names.
const Schedule& find_schedule(std::string_view name);

}  // namespace winnow::comm
