#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Where the parts of a personal exchange lie, in elements: part r of a buffer is [offsets[r],
// offsets[r + 1]). Part r of `out` goes to rank r, part r of `in` comes from it; parts may be
// empty.
struct ExchangeParts {
  std::span<const std::size_t> out_offsets;  // ranks + 1 of them, ascending
  std::span<const std::size_t> in_offsets;

  int ranks() const noexcept { return static_cast<int>(out_offsets.size()) - 1; }
};

// Personal exchange, all to all: this rank's transfers, ordered by chain. Ranges of sends are of
// `out`, those of receives of `in`, another buffer. Pairwise by rounds of shift: in round k a rank
// sends to rank + k while it receives from rank - k, so that no rank is everybody's target at once.
// The part of one round is cut into messages of options.segment_elements (at most
// kMostSegmentElements); the s-th of each rank in round k is chain k * stride + s, of one round.
// The number does not depend on the parts, which no rank knows of all others. A rank that has
// neither to send nor to receive there is not in the chain. The part a rank keeps needs no
// transfer; its caller copies it.
//
// Throws Error where the offsets make no sense or the part kept differs in size, UsageError where
// segments are too small for the chains to be numbered.
std::vector<Transfer> all_to_all(int rank, const ExchangeParts& parts,
                                 const ScheduleOptions& options);

// 1 GiB: the bytes of a message stay well within an int.
inline constexpr std::size_t kMostSegmentElements = std::size_t{1} << 28;

// Messages of 32 KiB. MPI libraries send what is so short without asking the receiver first (Open
// MPI up to 64 KiB over TCP), which fills a link better, and gradients that begin wait for little.
inline constexpr ScheduleOptions kExchangeOptions{.segment_elements = 8192};

}  // namespace winnow::comm
