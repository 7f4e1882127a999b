#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// The layout of a personal exchange, in elements. Part r of a buffer is [offsets[r], offsets[r +
// 1]). Part r of `out` goes to rank r; part r of `in` comes from it. Parts may be empty.
struct ExchangeParts {
  std::span<const std::size_t> out_offsets;  // ranks + 1, ascending
  std::span<const std::size_t> in_offsets;

  int ranks() const noexcept { return static_cast<int>(out_offsets.size()) - 1; }
};

// Personal exchange (all-to-all), pairwise in rounds of shift: in round k a rank sends to rank + k
// and receives from rank - k, so that no rank is the target of all at once.
//
// Out       This rank's transfers, ordered by chain. Sends are ranges of `out`, receives of `in`.
// Messages  Of options.segment_elements, at most kMostSegmentElements.
// Chains    Message s of each rank in round k is chain k * stride + s, which has one round. The
//           number does not depend on the parts, because no rank knows those of all others. A rank
//           that neither sends nor receives is not in the chain.
// Own part  Needs no transfer; the caller copies it.
// Errors    Error: invalid offsets, an own part with two sizes. UsageError: segments too small for
//           numbering the chains.
std::vector<Transfer> all_to_all(int rank, const ExchangeParts& parts,
                                 const ScheduleOptions& options);

// 1 GiB: the size of a message in bytes stays well within an int.
inline constexpr std::size_t kMostSegmentElements = std::size_t{1} << 28;

// Messages of 32 KiB. MPI libraries send such short ones without asking the receiver first (Open
// MPI up to 64 KiB over TCP), which fills a link better, and gradients wait little.
inline constexpr ScheduleOptions kExchangeOptions{.segment_elements = 8192};

}  // namespace winnow::comm
