#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// The buffers of one rank in an all-to-all (each rank sends another part of its data to each rank).
// Borrowed.
//
// Parts    Part r of `out` is [out_offsets[r], out_offsets[r + 1]) and goes to rank r; part r of
//          `in` comes from it.
// Offsets  In bytes, ascending, multiples of 4, one more than there are ranks.
// Buffers  Must not overlap.
struct Exchange {
  std::span<const std::byte> out;
  std::span<const std::size_t> out_offsets;
  std::span<std::byte> in;
  std::span<const std::size_t> in_offsets;
};

// Throws Error unless offsets and buffers are as Exchange says.
void check_exchange(int ranks, const Exchange& exchange);

// The transfers of this rank in an all-to-all, by all_to_all() of schedule/all_to_all.h, in
// elements of 4 bytes.
//
// Errors  As check_exchange() and all_to_all().
std::vector<Transfer> plan_exchange(int rank, int ranks, const Exchange& exchange,
                                    const ScheduleOptions& options);

// Copies the part that a rank sends to itself, for which there is no transfer.
void copy_part_kept(int rank, const Exchange& exchange);

}  // namespace winnow::comm
