#pragma once

#include <span>
#include <vector>

#include "common/statistics.h"

namespace winnow::train {

// Number of steps to reach a target accuracy or loss, as a function of the global batch B: S(B) =
// S_min + E_min / B. Pure functions.
// Source  McCandlish et al. 2018, An Empirical Model of Large-Batch Training.

// A run that reached the target.
struct ReachedTarget {
  double batch = 1;   // global batch size B
  double steps = 1;   // step of the first evaluation that reached the target
  double before = 0;  // step of the evaluation before, which did not reach the target
};

struct StepsToTarget {
  double least_steps = 0;     // S_min: number of steps with very large batches
  double least_examples = 0;  // E_min: number of training examples with very small batches
  Interval steps_range;       // range of least_steps over several fits
  Interval examples_range;    // range of least_examples over several fits

  double at(double batch) const noexcept { return least_steps + least_examples / batch; }
};

// Fits S_min and E_min, both at least 0, by least squares of relative errors.
//
// runs    Have at least two different batch sizes.
// Ranges  Cover the fits without one of the runs, if there are three or more batch sizes, and the
//         fits in which a run reached the target as early as its evaluations allow.
// Throws  UsageError: fewer than two different batch sizes.
StepsToTarget fit_steps_to_target(std::span<const ReachedTarget> runs);

// Returns the range of steps for a batch size, over all fits of fit_steps_to_target().
Interval steps_range_at(std::span<const ReachedTarget> runs, double batch);

// Returns the critical batch size E_min / S_min, which needs twice S_min steps. Infinite if no
// batch is large enough to distinguish S_min from 0.
double critical_batch(const StepsToTarget& fit) noexcept;

}  // namespace winnow::train
