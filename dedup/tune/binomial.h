#pragma once

#include "common/statistics.h"

namespace winnow::dedup {

// P(X <= x) of X binomial with `n` trials of probability `p`, n and x real.
double binomial_at_most(double x, double n, double p);

// A share of which `hits` of `trials` were seen lies in it in at least `confidence` of all cases
// (Clopper and Pearson 1934, exact). Both may be fractions, as of an effective sample size.
// 0 trials: from 0 to 1.
Interval clopper_pearson(double hits, double trials, double confidence = kConfidence);

}  // namespace winnow::dedup
