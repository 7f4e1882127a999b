#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// The parts of one rank's buffers in an all-to-all (each rank sends another part of its data to
// each rank), in elements. Part r of a buffer is [offsets[r], offsets[r + 1]). Part r of `out` goes
// to rank r; part r of `in` comes from it. Parts may be empty.
struct ExchangeParts {
  std::span<const std::size_t> out_offsets;  // ranks + 1, ascending
  std::span<const std::size_t> in_offsets;

  int ranks() const noexcept { return static_cast<int>(out_offsets.size()) - 1; }
};

// An all-to-all in rounds: in round k a rank sends to rank + k and receives from rank - k, so that
// no rank is the target of all at once.
//
// Out       The transfers of this rank, ordered by chain. Sends are ranges of `out`, receives of
//           `in`.
// Messages  Of options.segment_elements, at most kMostSegmentElements.
// Chains    Message number s of round k is chain k * stride + s on every rank. The stride does not
//           depend on the parts, because no rank knows those of all others. A rank that neither
//           sends nor receives a message is not in its chain.
// Own part  Needs no transfer; the caller copies it.
// Errors    Error: invalid offsets, or an own part with two sizes. UsageError: segments are too
//           small, so that chains cannot be numbered.
std::vector<Transfer> all_to_all(int rank, const ExchangeParts& parts,
                                 const ScheduleOptions& options);

// Longest segment in elements of 4 bytes: 1 GiB, so that the size of a message in bytes fits easily
// into an int.
inline constexpr std::size_t kMostSegmentElements = std::size_t{1} << 28;

// Good options for all-to-alls: messages of 32 KiB. MPI libraries send such short ones without
// asking the receiver first (Open MPI up to 64 KiB over TCP), which fills a link better, and
// gradients wait little.
inline constexpr ScheduleOptions kExchangeOptions{.segment_elements = 8192};

}  // namespace winnow::comm
