#pragma once

#include "common/statistics.h"

namespace winnow {

// P(X <= x) for X binomial with `n` trials of probability `p`; n and x may be fractions.
double binomial_at_most(double x, double n, double p);

// Confidence interval of a share, after `hits` in `trials` (Clopper and Pearson 1934, exact). Both
// may be fractions, such as an effective sample size. 0 trials: from 0 to 1.
Interval clopper_pearson(double hits, double trials, double confidence = kConfidence);

}  // namespace winnow
