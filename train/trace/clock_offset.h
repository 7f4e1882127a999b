#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::train {

// When a rank reached a barrier and when it left it, in nanoseconds of its own clock.
struct Meeting {
  std::int64_t came = 0;
  std::int64_t left = 0;
};

// Difference of a clock from rank 0's, and the largest error of this difference.
struct ClockOffset {
  std::int64_t ns = 0;
  std::int64_t error_ns = 0;

  friend bool operator==(const ClockOffset&, const ClockOffset&) = default;
};

// Clock offset of a rank, from barriers. No rank leaves a barrier before all have reached it, so
// each meeting bounds the offset on both sides. Returns the middle of the remaining range and half
// its width. Pure.
// In  At least one meeting, the same meetings as seen by rank 0 and by the rank.
ClockOffset offset_of(std::span<const Meeting> of_root, std::span<const Meeting> of_rank);

// The clocks of all ranks at one time.
struct Clocks {
  std::int64_t here_ns = 0;            // this rank's clock at that time
  std::int64_t root_ns = 0;            // rank 0's clock
  std::vector<ClockOffset> offsets{};  // for each rank
};

// Compares the clocks of all ranks at barriers. Collective.
Clocks compare_clocks(comm::Communicator& comm);

// Converts a rank's time to rank 0's clock, interpolating linearly between two comparisons.
// Ascending in `ns`. Pure.
struct ClockLine {
  std::int64_t begin_ns = 0;  // this rank's clock at the first comparison
  std::int64_t end_ns = 0;    // at the second comparison
  std::int64_t begin_offset_ns = 0;
  std::int64_t end_offset_ns = 0;

  std::int64_t of_root(std::int64_t ns) const noexcept;
};

}  // namespace winnow::train
