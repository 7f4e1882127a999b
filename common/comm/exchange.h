#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// The buffers of one rank in an all-to-all. Nothing is owned.
//
// Parts    part r of `out` is [out_offsets[r], out_offsets[r + 1]) and goes to rank r; part r of
//          `in` comes from it
// Offsets  in bytes, ascending, multiples of 4, one more than there are ranks
// Buffers  do not overlap
struct Exchange {
  std::span<const std::byte> out;
  std::span<const std::size_t> out_offsets;
  std::span<std::byte> in;
  std::span<const std::size_t> in_offsets;
};

// Throws Error where that is not so.
void check_exchange(int ranks, const Exchange& exchange);

// This rank's transfers by all_to_all() of schedule/all_to_all.h, in elements of 4 bytes.
//
// Throws  as check_exchange and all_to_all do
std::vector<Transfer> plan_exchange(int rank, int ranks, const Exchange& exchange,
                                    const ScheduleOptions& options);

// Copies the part that a rank has for itself, which no transfer moves.
void copy_part_kept(int rank, const Exchange& exchange);

}  // namespace winnow::comm
