#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Confidence intervals and tests for experiments. Pure functions, in double.
// Own code instead of Boost.Math, which needs 150 MB of headers and four seconds for each source
// that includes it, for one function (incomplete_beta(), also used by dedup/tune). Tests compare it
// with SciPy.
namespace winnow {

struct Interval {
  double least = 0;
  double most = 0;

  bool has(double value) const noexcept { return least <= value && value <= most; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1]. By its continued
// fraction (Lentz's method), accurate to 1e-9 or better.
double incomplete_beta(double a, double b, double x);
// The `p`-quantile of the standard normal distribution, for p in (0, 1).
double normal_quantile(double p);
// Student's t distribution with `freedom` > 0 degrees of freedom.
// student_t_tails  Two-sided probability P(|T| >= |t|).
// student_t_bound  The t > 0 that has the two-sided probability `p`, for p in (0, 1).
double student_t_tails(double t, double freedom);
double student_t_bound(double p, double freedom);

constexpr double kConfidence = 0.95;  // default confidence of intervals

// Confidence interval of a share after `hits` in `trials` (Wilson 1927). [0, 1] for 0 trials.
Interval wilson(std::uint64_t hits, std::uint64_t trials, double confidence = kConfidence);

// The median of at least one value. `of_two`: what to return if there are two middle values.
enum class Middle { kMean, kLower, kUpper };
double median(std::vector<double> values, Middle of_two = Middle::kMean);

// The difference between the results of two recipes a and b, from pairs of runs with a common seed
// or fold.
struct PairedDifference {
  std::size_t pairs = 0;
  double mean = 0;       // mean of b - a
  double deviation = 0;  // standard deviation of the differences (n - 1); 0 for one pair
  // Student's confidence interval of the mean, and the p-value of no difference. Only for two or
  // more pairs.
  std::optional<Interval> interval = {};
  std::optional<double> p = {};
};
// Compares paired results of two recipes a and b.
//
// resolution  The step in which results are counted, such as 1 / (number of images) for an
//             accuracy. Rounding to it is added to the variance, so that equal differences on few
//             images prove nothing.
// shared      For nets trained on overlapping samples, such as folds of one data set: the number of
//             test samples divided by the number of training samples, 1 / (K - 1) for K folds. Such
//             differences are not independent; the variance of their mean is (1 / pairs + `shared`)
//             times that of one.
// Source      Corrected resampled t-test: Nadeau and Bengio, Inference for the Generalization
//             Error, Machine Learning 52, 2003.
// Errors      std::invalid_argument: no values, or different numbers of them.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b,
                                   double confidence = kConfidence, double resolution = 0,
                                   double shared = 0);

// Counts of images by whether two nets a and b predict them correctly.
struct PairedHits {
  std::uint64_t both = 0;  // both are correct
  std::uint64_t only_a = 0;
  std::uint64_t only_b = 0;
  std::uint64_t neither = 0;

  std::uint64_t images() const noexcept { return both + only_a + only_b + neither; }
};
// Counts the images by the correctness of two nets' predictions. Both lists must have equal size.
PairedHits count_hits(const std::vector<bool>& a, const std::vector<bool>& b);

// The p-value of McNemar's exact two-sided test (1947): the probability that two equally good nets
// divide the images on which they disagree at least as unevenly. It compares these two nets, not
// their recipes, which need several seeds.
double mcnemar(const PairedHits& hits) noexcept;
// Confidence interval of b's accuracy minus a's, for two nets on the same images (Bonett and Price
// 2012).
Interval share_difference(const PairedHits& hits, double confidence = kConfidence);

// Verdict of a non-inferiority test: does b lose less than a margin fixed beforehand, compared with
// a?
enum class Loss {
  kNone,     // no loss: a loss of the margin or more is excluded
  kSome,     // some loss: a loss of more than the margin is shown
  kUnknown,  // neither was shown; more runs or a wider margin are needed
};
struct LossVerdict {
  double p_no_loss = 1;  // adjusted as the verdict
  Loss loss = Loss::kUnknown;
};

// One-sided p-value of a non-inferiority test: the probability of a difference (b - a) at least as
// high as the observed one if b were worse than a by `margin`.
// This form is for pairs of runs (two or more), by Student's t, as paired_difference().
double p_no_loss(std::span<const double> a, std::span<const double> b, double margin,
                 double resolution = 0, double shared = 0);
// The p-value of non-inferiority for two nets on the same images, by the method of
// share_difference().
double p_no_loss(const PairedHits& hits, double margin) noexcept;

// Verdicts of several non-inferiority tests at 5 % together, by Holm's method: separately for
// "none" and for "some". In the order of the tests; nullopt if a p-value is unknown.
std::vector<std::optional<LossVerdict>> judge_losses(
    std::span<const std::optional<double>> p_no_loss);

// Adjusts the p-values of several tests for multiple testing (Holm 1979). In the order of the
// tests.
std::vector<double> holm(std::span<const double> p);
// Like holm(), for the p-values that are known; the others stay nullopt.
std::vector<std::optional<double>> holm_of_known(std::span<const std::optional<double>> p);

}  // namespace winnow
