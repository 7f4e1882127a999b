#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// A range of a buffer: elements [begin, begin + count).
struct Share {
  std::size_t begin = 0;
  std::size_t count = 0;

  friend bool operator==(const Share&, const Share&) = default;
};

// The share of a rank in a buffer of `count` elements. Shares are in order of ranks, without gaps,
// as equal as possible: the first count mod ranks shares are one element longer.
Share share_of(int rank, int ranks, std::size_t count) noexcept;

// A schedule (algorithm) for the two halves of an all-reduce, in which each rank owns a share of
// the buffer.
//
// reduce_scatter  Each rank ends with the sum of its own share; the rest of its buffer becomes
//                 undefined.
// all_gather      Each rank starts with its own share and ends with all shares.
// Transfers       Those of this rank, for a buffer of `count` elements, ordered by chain, then
//                 round. Same errors as Schedule::all_reduce.
struct ShareSchedule {
  std::string_view name;
  std::string_view what;
  std::vector<Transfer> (*reduce_scatter)(const Placement& placement, std::size_t count,
                                          const ScheduleOptions& options);
  std::vector<Transfer> (*all_gather)(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);
};

std::span<const ShareSchedule> share_schedules();

// Divides the share of each rank into equally many parts, none longer than a segment. Chain c
// (sequence of transfers) moves part c of every share.
class ShareChains {
 public:
  // Throws as check_arguments() and checked_chains() do.
  ShareChains(const Placement& placement, std::size_t count, const ScheduleOptions& options);

  int chains() const noexcept { return chains_; }  // 0: nothing to do
  // The elements of part number `chain` of the share of `rank` (modulo the number of ranks).
  Share part(int rank, int chain) const noexcept;

 private:
  int ranks_;
  std::size_t count_;
  int chains_ = 0;
  std::size_t span_ = 0;  // maximum length of a part in elements
};

}  // namespace winnow::comm
