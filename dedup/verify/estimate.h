#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Cost estimate of verifying pairs by comparing their pictures.
struct VerifyEstimate {
  std::size_t sampled = 0;  // pictures in the sample
  double trials = 0;        // pairs to be registered
  double core_seconds = 0;  // sum over all threads
  double bytes = 0;         // peak memory in bytes, without the pictures
};

// A clock in seconds that counts only while this thread works.
using Seconds = std::function<double()>;

// Estimates the cost of verify() and look_closer() for these rows from a sample of every n-th row,
// at most 1000.
// Runs the steps of the full run on the sample and scales the result up to all rows. Takes a second
// or two on one thread.
// near    Pairs of all rows that are near by hash codes, sorted by rows.
// Errors  StoppedError.
VerifyEstimate estimate_verification(std::span<const std::uint32_t> rows,
                                     const PictureSource& pictures, std::span<const Edge> near,
                                     const MatchModel& model, const VerifyOptions& options,
                                     const Seconds& seconds);

}  // namespace winnow::dedup
