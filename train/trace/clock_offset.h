#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::train {

// When a rank came to a barrier and when it left it, in nanoseconds of its own clock.
struct Meeting {
  std::int64_t came = 0;
  std::int64_t left = 0;
};

// What a clock shows more than rank 0's, and how far that may be from the truth.
struct ClockOffset {
  std::int64_t ns = 0;
  std::int64_t error_ns = 0;

  friend bool operator==(const ClockOffset&, const ClockOffset&) = default;
};

// Nobody leaves a barrier before all have come: each of the same meetings, as rank 0 and as another
// rank saw them, bounds the offset from both sides. The middle of what all of them leave, and half
// its width. Pure.
// In  at least one meeting; as many of each
ClockOffset offset_of(std::span<const Meeting> of_root, std::span<const Meeting> of_rank);

// The clocks of all ranks at one time.
struct Clocks {
  std::int64_t here_ns = 0;            // this rank's clock then
  std::int64_t root_ns = 0;            // rank 0's
  std::vector<ClockOffset> offsets{};  // of each rank
};

// Collective: ranks meet at barriers.
Clocks compare_clocks(comm::Communicator& comm);

// A rank's time as rank 0's clock has it, where two comparisons say how they differ and clocks run
// evenly between. Ascending in `ns`. Pure.
struct ClockLine {
  std::int64_t begin_ns = 0;  // this rank's clock at the first comparison
  std::int64_t end_ns = 0;    // and at the second
  std::int64_t begin_offset_ns = 0;
  std::int64_t end_offset_ns = 0;

  std::int64_t of_root(std::int64_t ns) const noexcept;
};

}  // namespace winnow::train
