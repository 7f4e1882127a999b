#pragma once

#include "common/statistics.h"

namespace winnow {

// The probability P(X <= x) for a binomial X of `n` trials with probability `p` each. n and x may
// be fractions.
double binomial_at_most(double x, double n, double p);

// Exact confidence interval of a share after `hits` in `trials` (Clopper and Pearson 1934). Both
// may be fractions, such as an effective sample size. [0, 1] for 0 trials.
Interval clopper_pearson(double hits, double trials, double confidence = kConfidence);

}  // namespace winnow
