#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Where the parts of a personal exchange lie, in elements. Part r of a buffer is [offsets[r],
// offsets[r + 1]); part r of `out` goes to rank r, part r of `in` comes from it. Parts may be
// empty.
struct ExchangeParts {
  std::span<const std::size_t> out_offsets;  // ranks + 1 of them, ascending
  std::span<const std::size_t> in_offsets;

  int ranks() const noexcept { return static_cast<int>(out_offsets.size()) - 1; }
};

// Personal exchange, all to all, pairwise by rounds of shift: in round k a rank sends to rank + k
// while it receives from rank - k, so that no rank is everybody's target at once.
//
// Out       this rank's transfers, ordered by chain; sends are ranges of `out`, receives of `in`
// Messages  of options.segment_elements, at most kMostSegmentElements
// Chains    the s-th message of each rank in round k is chain k * stride + s, of one round. The
//           number does not depend on the parts, which no rank knows of all others. A rank that
//           neither sends nor receives there is not in the chain
// Own part  needs no transfer; the caller copies it
// Throws    Error: offsets that make no sense, an own part of two sizes. UsageError: segments too
//           small for the chains to be numbered
std::vector<Transfer> all_to_all(int rank, const ExchangeParts& parts,
                                 const ScheduleOptions& options);

// 1 GiB: the bytes of a message stay well within an int.
inline constexpr std::size_t kMostSegmentElements = std::size_t{1} << 28;

// Messages of 32 KiB. MPI libraries send what is so short without asking the receiver first (Open
// MPI up to 64 KiB over TCP), which fills a link better, and gradients that begin wait for little.
inline constexpr ScheduleOptions kExchangeOptions{.segment_elements = 8192};

}  // namespace winnow::comm
