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

// The share of a rank in a buffer of `count` elements that all ranks divide: in the order of ranks,
// without gaps, as equal as can be. The first count mod ranks are one element longer.
Share share_of(int rank, int ranks, std::size_t count) noexcept;

// The halves of an all-reduce by shares, each for itself. A row of the table in shares.cpp.
//
// reduce_scatter  each rank ends with the sum of its own share; what its other shares hold then is
//                 not defined
// all_gather      each rank begins with its own share and ends with those of all
// Transfers       as Schedule::all_reduce's: this rank's, for a buffer of `count` elements, ordered
//                 by chain, then round; every rank is in every chain. Throws what that throws
struct ShareSchedule {
  std::string_view name;
  std::string_view what;
  std::vector<Transfer> (*reduce_scatter)(const Placement& placement, std::size_t count,
                                          const ScheduleOptions& options);
  std::vector<Transfer> (*all_gather)(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);
};

std::span<const ShareSchedule> share_schedules();

// All shares cut into as many chains: chain c has part c of each. No part is longer than a segment.
class ShareChains {
 public:
  // Throws as check_arguments and checked_chains do.
  ShareChains(const Placement& placement, std::size_t count, const ScheduleOptions& options);

  int chains() const noexcept { return chains_; }  // 0: nothing is to be done
  // Elements of the share of `rank`, which counts modulo ranks, in a chain.
  Share part(int rank, int chain) const noexcept;

 private:
  int ranks_;
  std::size_t count_;
  int chains_ = 0;
  std::size_t span_ = 0;  // of a part, at most
};

}  // namespace winnow::comm
