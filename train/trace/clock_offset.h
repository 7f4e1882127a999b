#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::train {

// Times at which a rank reached a barrier and left it, in nanoseconds of its own clock.
struct Meeting {
  std::int64_t came = 0;
  std::int64_t left = 0;
};

// Difference between a rank's clock and that of rank 0, and the largest error of this difference,
// in nanoseconds.
struct ClockOffset {
  std::int64_t ns = 0;
  std::int64_t error_ns = 0;

  friend bool operator==(const ClockOffset&, const ClockOffset&) = default;
};

// Estimates the clock offset of a rank from barriers. No rank leaves a barrier before all have
// reached it, so each barrier bounds the offset on both sides. Pure.
// In   At least one barrier, the same ones as seen by rank 0 and by the rank.
// Out  The middle of the remaining range, and half its width as the error.
ClockOffset offset_of(std::span<const Meeting> of_root, std::span<const Meeting> of_rank);

// The clocks of all ranks, compared at one point in time.
struct Clocks {
  std::int64_t here_ns = 0;            // this rank's clock at the comparison
  std::int64_t root_ns = 0;            // rank 0's clock at the comparison
  std::vector<ClockOffset> offsets{};  // for each rank, the offset of its clock from rank 0's
};

// Compares the clocks of all ranks at barriers. Collective.
Clocks compare_clocks(comm::Communicator& comm);

// Converts times of a rank to rank 0's clock, by linear interpolation between two comparisons of
// the clocks. Later times stay later. Pure.
struct ClockLine {
  std::int64_t begin_ns = 0;  // this rank's clock at the first comparison
  std::int64_t end_ns = 0;    // this rank's clock at the second comparison
  std::int64_t begin_offset_ns = 0;
  std::int64_t end_offset_ns = 0;

  std::int64_t of_root(std::int64_t ns) const noexcept;
};

}  // namespace winnow::train
