#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Intervals and tests for results of experiments. Pure functions, in double.
//
// Why not Boost.Math: 150 MB of headers to install, and four seconds a source that includes it, for
// one function, incomplete_beta(), which dedup/tune needs too. Tests hold it to SciPy's numbers.
namespace winnow {

struct Interval {
  double least = 0;
  double most = 0;

  bool has(double value) const noexcept { return least <= value && value <= most; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The regularised incomplete beta function I_x(a, b) of a, b > 0 and x from 0 to 1, by its
// continued fraction (Lentz's method), to 1e-9 or better.
double incomplete_beta(double a, double b, double x);
// The number that a standard normal one is below with probability `p`, in (0, 1).
double normal_quantile(double p);
// P(|T| >= |t|) of Student's t with `freedom` > 0, and the t > 0 of which that is `p`, in (0, 1).
double student_t_tails(double t, double freedom);
double student_t_bound(double p, double freedom);

constexpr double kConfidence = 0.95;  // of intervals, where nothing else is asked for

// A share of which `hits` of `trials` were seen (Wilson 1927). 0 trials: from 0 to 1.
Interval wilson(std::uint64_t hits, std::uint64_t trials, double confidence = kConfidence);

// What lies in the middle of one value or more; of two that do, their mean, or one of them.
enum class Middle { kMean, kLower, kUpper };
double median(std::vector<double> values, Middle of_two = Middle::kMean);

// What two recipes differ by, from runs of each that have something in common: a seed, a fold.
struct PairedDifference {
  std::size_t pairs = 0;
  double mean = 0;       // of b less a
  double deviation = 0;  // of single differences, n - 1; of one pair: 0
  // Student's, and the probability of a difference as large as this or larger where there is none.
  // Of two pairs or more.
  std::optional<Interval> interval = {};
  std::optional<double> p = {};
};
// resolution  The step in which both are counted, 1 / images of an accuracy. Rounding to it is part
//             of the variance, so that equal differences of few images are no certainty.
// shared      Where pairs are of nets trained on samples that are in part the same, as folds of one
//             data set are: the samples that one is tested on, by those it is trained on, which of
//             K folds is 1 / (K - 1). Such differences are not independent, and the variance of
//             their mean is 1 / pairs + `shared` of that of one (the corrected resampled t-test:
//             Nadeau and Bengio, Inference for the Generalization Error, Machine Learning 52,
//             2003).
// Errors: std::invalid_argument: none, or not as many of both.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b,
                                   double confidence = kConfidence, double resolution = 0,
                                   double shared = 0);

// What two nets say of the same images.
struct PairedHits {
  std::uint64_t both = 0;  // right
  std::uint64_t only_a = 0;
  std::uint64_t only_b = 0;
  std::uint64_t neither = 0;

  std::uint64_t images() const noexcept { return both + only_a + only_b + neither; }
};
PairedHits count_hits(const std::vector<bool>& a, const std::vector<bool>& b);  // of equal size

// The probability that images which one of two equally good nets has right, and the other wrong,
// are shared out as unevenly (McNemar 1947, exact, two-sided). It tells of these two nets, not of
// their recipes: those take several seeds.
double mcnemar(const PairedHits& hits) noexcept;
// What b's share of right images is above a's (Bonett and Price 2012).
Interval share_difference(const PairedHits& hits, double confidence = kConfidence);

// Whether b may be said to lose nothing against a, but for a margin that was said beforehand.
enum class Loss {
  kNone,     // the whole interval of the difference is above -margin
  kSome,     // all of it is below -margin
  kUnknown,  // neither: more runs are needed, or a wider margin
};
// `difference`: two-sided, of confidence 1 - 2 * alpha for a test of level alpha; 0.9 for 5 %.
Loss loss_by(const Interval& difference, double margin) noexcept;

// p-values of several tests, so that one false alarm among all is as rare as one of a single test
// (Holm 1979). In their order.
std::vector<double> holm(std::span<const double> p);

}  // namespace winnow
