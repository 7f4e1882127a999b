#pragma once

#include <span>
#include <vector>

#include "common/statistics.h"

namespace winnow::train {

// Steps to a target as a function of the global batch: S(B) = S_min + E_min / B. Pure functions.
// Source  McCandlish et al. 2018, An Empirical Model of Large-Batch Training.

// A run that reached the target.
struct ReachedTarget {
  double batch = 1;   // B
  double steps = 1;   // at the first evaluation that reached it
  double before = 0;  // at the previous evaluation, which did not
};

struct StepsToTarget {
  double least_steps = 0;     // S_min: steps with very large batches
  double least_examples = 0;  // E_min: examples with very small batches
  Interval steps_range;       // range of least_steps
  Interval examples_range;    // range of least_examples

  double at(double batch) const noexcept { return least_steps + least_examples / batch; }
};

// Fits S_min and E_min, both at least 0, by least squares of relative errors.
//
// runs    With at least two different batches.
// Ranges  Cover the fits of all runs but one, if there are three or more batches, and the fits in
//         which a run reached the target as early as its evaluations allow.
// Throws  UsageError: fewer than two different batches.
StepsToTarget fit_steps_to_target(std::span<const ReachedTarget> runs);

// The range of steps that all these fits give for a batch.
Interval steps_range_at(std::span<const ReachedTarget> runs, double batch);

// E_min / S_min, the batch that needs twice S_min steps; infinite if no batch is large enough to
// distinguish S_min from 0.
double critical_batch(const StepsToTarget& fit) noexcept;

}  // namespace winnow::train
