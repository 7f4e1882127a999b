#include "common/binomial.h"

#include "common/statistics.h"

namespace winnow {
namespace {

// Solves falls(x) = level in [0, 1]; `falls` decreases from 1 to 0.
double where_it_is(double level, const auto& falls) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (falls(middle) > level ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double binomial_at_most(double x, double n, double p) {
  if (x >= n) return 1;
  if (x < 0) return 0;
  return incomplete_beta(n - x, x + 1, 1 - p);
}

Interval clopper_pearson(double hits, double trials, double confidence) {
  const double tail = (1 - confidence) / 2;
  Interval out{0, 1};
  if (hits > 0) {
    out.least =
        where_it_is(1 - tail, [&](double p) { return binomial_at_most(hits - 1, trials, p); });
  }
  if (hits < trials) {
    out.most = where_it_is(tail, [&](double p) { return binomial_at_most(hits, trials, p); });
  }
  return out;
}

}  // namespace winnow
