#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "dedup/verify/verify.h"

namespace winnow::dedup {

// What it takes to compare pictures.
struct VerifyEstimate {
  std::size_t sampled = 0;  // pictures that tell
  double trials = 0;        // pairs that are laid upon each other
  double core_seconds = 0;  // of all threads together
  double bytes = 0;         // at most at a time, beside what the pictures take
};

// Seconds by a clock that goes on while this thread works.
using Seconds = std::function<double()>;

// Tells what verify() and look_closer() of so many rows will take, by every so many-th of them:
// 1000 at most. Finds their landmarks, searches those as all will be searched, lays pairs upon each
// other and looks at some by larger pictures; a pair of the sample stands for as many as there are
// more of. Takes a second or two of one thread.
// near    of all rows, sorted by rows
// Errors: StoppedError.
VerifyEstimate estimate_verification(std::span<const std::uint32_t> rows,
                                     const PictureSource& pictures, std::span<const Edge> near,
                                     const MatchModel& model, const VerifyOptions& options,
                                     const Seconds& seconds);

}  // namespace winnow::dedup
