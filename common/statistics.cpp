#include "common/statistics.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace winnow {
namespace {

// Solves falls(x) = level in [low, high]; `falls` is decreasing.
double where_it_falls_to(double level, double low, double high, const auto& falls) {
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (falls(middle) > level ? low : high) = middle;
  }
  return (low + high) / 2;
}

// The difference b - a in accuracy (Bonett and Price 2012): one image more for each that is right
// alone.
struct SmoothedDifference {
  double mean = 0;
  double error = 0;  // standard error, above 0
};
SmoothedDifference smoothed_difference(const PairedHits& hits) noexcept {
  const double n = static_cast<double>(hits.images()) + 2;
  const double a = (static_cast<double>(hits.only_a) + 1) / n;
  const double b = (static_cast<double>(hits.only_b) + 1) / n;
  return {b - a, std::sqrt((a + b - (b - a) * (b - a)) / n)};
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) {
    // Uses the other tail, where the fraction converges.
    return 1 - incomplete_beta(b, a, 1 - x);
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x)) /
                       a;
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m < 10'000; ++m) {  // takes about sqrt(a + b) steps
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
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

double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  // Uses the lower tail, which keeps its digits.
  return -where_it_falls_to(p, 0, 40, [](double z) { return std::erfc(z / std::sqrt(2)) / 2; });
}

double student_t_tails(double t, double freedom) {
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_t_bound(double p, double freedom) {
  // 1e9 covers p = 1e-9 with one degree of freedom.
  return where_it_falls_to(p, 0, 1e9, [&](double t) { return student_t_tails(t, freedom); });
}

Interval wilson(std::uint64_t hits, std::uint64_t trials, double confidence) {
  if (trials == 0) return {0, 1};
  const double z = normal_quantile(0.5 + confidence / 2);
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(hits) / n;
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {hits == 0 ? 0 : middle - half, hits == trials ? 1 : middle + half};
}

double median(std::vector<double> values, Middle of_two) {
  const std::size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1 || of_two == Middle::kUpper) return *middle;
  const double lower = *std::max_element(values.begin(), middle);
  return of_two == Middle::kLower ? lower : (lower + *middle) / 2;
}

PairedDifference paired_difference(std::span<const double> a, std::span<const double> b,
                                   double confidence, double resolution, double shared) {
  if (a.empty() || a.size() != b.size()) {
    throw std::invalid_argument(
        "a paired difference needs the same number of results of both, at least one");
  }
  const auto n = static_cast<double>(a.size());
  PairedDifference out{.pairs = a.size()};
  for (std::size_t i = 0; i < a.size(); ++i) out.mean += (b[i] - a[i]) / n;
  if (a.size() == 1) return out;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += (b[i] - a[i] - out.mean) * (b[i] - a[i] - out.mean);
  }
  out.deviation = std::sqrt(squares / (n - 1));
  // Both values are rounded to the step: a variance of step^2 / 12 each.
  const double error =
      std::sqrt((out.deviation * out.deviation + resolution * resolution / 6) * (1 / n + shared));
  const double half = student_t_bound(1 - confidence, n - 1) * error;
  out.interval = {out.mean - half, out.mean + half};
  if (error > 0) {
    out.p = student_t_tails(out.mean / error, n - 1);
  } else {
    out.p = out.mean == 0 ? 1 : 0;
  }
  return out;
}

PairedHits count_hits(const std::vector<bool>& a, const std::vector<bool>& b) {
  PairedHits hits;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++(a[i] ? (b[i] ? hits.both : hits.only_a) : (b[i] ? hits.only_b : hits.neither));
  }
  return hits;
}

double mcnemar(const PairedHits& hits) noexcept {
  const auto fewer = static_cast<double>(std::min(hits.only_a, hits.only_b));
  const auto more = static_cast<double>(std::max(hits.only_a, hits.only_b));
  if (fewer == more) return 1;
  // Probability that a fair coin gives this few or fewer on one side, doubled for both sides.
  return std::min(1.0, 2 * incomplete_beta(more, fewer + 1, 0.5));
}

Interval share_difference(const PairedHits& hits, double confidence) {
  const SmoothedDifference difference = smoothed_difference(hits);
  const double half = normal_quantile(0.5 + confidence / 2) * difference.error;
  return {std::max(-1.0, difference.mean - half), std::min(1.0, difference.mean + half)};
}

double p_no_loss(std::span<const double> a, std::span<const double> b, double margin,
                 double resolution, double shared) {
  std::vector<double> least(a.begin(), a.end());
  for (double& value : least) value -= margin;
  const PairedDifference above = paired_difference(least, b, kConfidence, resolution, shared);
  return above.mean > 0 ? *above.p / 2 : 1 - *above.p / 2;
}

double p_no_loss(const PairedHits& hits, double margin) noexcept {
  const SmoothedDifference difference = smoothed_difference(hits);
  return std::erfc((difference.mean + margin) / difference.error / std::numbers::sqrt2) / 2;
}

std::vector<std::optional<LossVerdict>> judge_losses(
    std::span<const std::optional<double>> p_no_loss) {
  constexpr double kLevel = 1 - kConfidence;
  std::vector<std::optional<double>> some(p_no_loss.begin(), p_no_loss.end());
  for (auto& p : some) {
    if (p) p = 1 - *p;
  }
  const auto none_of_all = holm_of_known(p_no_loss);
  const auto some_of_all = holm_of_known(some);
  std::vector<std::optional<LossVerdict>> verdicts(p_no_loss.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (!none_of_all[i]) continue;
    verdicts[i] = {.p_no_loss = *none_of_all[i],
                   .loss = *none_of_all[i] <= kLevel   ? Loss::kNone
                           : *some_of_all[i] <= kLevel ? Loss::kSome
                                                       : Loss::kUnknown};
  }
  return verdicts;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double most = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    most = std::max(most, std::min(1.0, p[order[rank]] * static_cast<double>(p.size() - rank)));
    adjusted[order[rank]] = most;
  }
  return adjusted;
}

std::vector<std::optional<double>> holm_of_known(std::span<const std::optional<double>> p) {
  std::vector<double> known;
  for (const auto& one : p) {
    if (one) known.push_back(*one);
  }
  const std::vector<double> all = holm(known);
  std::vector<std::optional<double>> out(p.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i]) out[i] = all[next++];
  }
  return out;
}

}  // namespace winnow
