#pragma once

namespace winnow::dedup {

// P(X <= x) of X binomial with `n` trials of probability `p`, n and x real: the regularised
// incomplete beta function I_{1-p}(n - x, x + 1), by its continued fraction (Lentz's method).
double binomial_at_most(double x, double n, double p);

struct Interval {
  double least = 0;
  double most = 1;
};

// A share of which `hits` of `trials` were seen lies in it in at least `confidence` of all cases
// (Clopper and Pearson 1934, exact). Both may be fractions, as of an effective sample size.
// 0 trials: from 0 to 1.
Interval clopper_pearson(double hits, double trials, double confidence = 0.95);

}  // namespace winnow::dedup
