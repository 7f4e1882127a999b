#include "dedup/tune/binomial.h"

#include <cmath>
#include <initializer_list>

namespace winnow::dedup {
namespace {

// Where `falls`, a function that falls from 1 to 0 between 0 and 1, is `level`.
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
  const double a = n - x;
  const double b = x + 1;
  const double z = 1 - p;
  if (z > (a + 1) / (a + b + 2)) {
    // Of the other tail, where the fraction converges.
    return 1 - binomial_at_most(n - x - 1, n, 1 - p);
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(z) + b * std::log1p(-z)) /
                       a;
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * z / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m < 10'000; ++m) {  // some √n are needed
    for (const double term : {m * (b - m) * z / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * z / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      fraction *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-12) break;
  }
  return front * fraction;
}

Interval clopper_pearson(double hits, double trials, double confidence) {
  const double tail = (1 - confidence) / 2;
  Interval out;
  if (hits > 0) {
    out.least =
        where_it_is(1 - tail, [&](double p) { return binomial_at_most(hits - 1, trials, p); });
  }
  if (hits < trials) {
    out.most = where_it_is(tail, [&](double p) { return binomial_at_most(hits, trials, p); });
  }
  return out;
}

}  // namespace winnow::dedup
