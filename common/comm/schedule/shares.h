#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Elements [begin, begin + count) of a buffer.
struct Share {
  std::size_t begin = 0;
  std::size_t count = 0;

  friend bool operator==(const Share&, const Share&) = default;
};

// The share of a rank in a buffer of `count` elements: in order of ranks, without gaps, as equal as
// possible. The first count mod ranks shares are one element longer.
Share share_of(int rank, int ranks, std::size_t count) noexcept;

// The two halves of an all-reduce by shares. A row of the table in shares.cpp.
//
// reduce_scatter  Each rank ends with the sum of its own share; its other shares become undefined.
// all_gather      Each rank starts with its own share and ends with all of them.
// Transfers       As for Schedule::all_reduce: this rank's, for a buffer of `count` elements,
//                 ordered by chain, then round. Same errors.
struct ShareSchedule {
  std::string_view name;
  std::string_view what;
  std::vector<Transfer> (*reduce_scatter)(const Placement& placement, std::size_t count,
                                          const ScheduleOptions& options);
  std::vector<Transfer> (*all_gather)(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);
};

std::span<const ShareSchedule> share_schedules();

// Divides all shares into equally many chains: chain c has part c of each. No part is longer than a
// segment.
class ShareChains {
 public:
  // Throws as check_arguments() and checked_chains().
  ShareChains(const Placement& placement, std::size_t count, const ScheduleOptions& options);

  int chains() const noexcept { return chains_; }  // 0: nothing to do
  // The elements of the share of `rank` (modulo the number of ranks) in a chain.
  Share part(int rank, int chain) const noexcept;

 private:
  int ranks_;
  std::size_t count_;
  int chains_ = 0;
  std::size_t span_ = 0;  // maximum length of a part
};

}  // namespace winnow::comm
