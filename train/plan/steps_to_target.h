#pragma once

#include <span>
#include <vector>

#include "common/statistics.h"

namespace winnow::train {

// Steps to a target by the global batch: S(B) = S_min + E_min / B (McCandlish et al. 2018, An
// Empirical Model of Large-Batch Training). Pure functions.

// A run that reached the target.
struct ReachedTarget {
  double batch = 1;   // B
  double steps = 1;   // of the first evaluation that reached it
  double before = 0;  // steps of the evaluation before, which did not
};

struct StepsToTarget {
  double least_steps = 0;     // S_min: what the largest batches need
  double least_examples = 0;  // E_min: what the smallest batches need
  Interval steps_range;       // of least_steps
  Interval examples_range;    // of least_examples

  double at(double batch) const noexcept { return least_steps + least_examples / batch; }
};

// Fits S_min and E_min, neither below 0, by least squares of relative errors.
//
// In      runs of two batches or more
// Ranges  hold the fits of all runs but one, where there are three batches and more, and those in
//         which a run reached the target as early as its evaluations leave possible
// Throws  UsageError: fewer than two different batches
StepsToTarget fit_steps_to_target(std::span<const ReachedTarget> runs);

// The steps that all these fits give for a batch.
Interval steps_range_at(std::span<const ReachedTarget> runs, double batch);

// E_min / S_min, where twice S_min steps are needed; infinite where no batch is large enough to
// tell S_min from 0.
double critical_batch(const StepsToTarget& fit) noexcept;

}  // namespace winnow::train
