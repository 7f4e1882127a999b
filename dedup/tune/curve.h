#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dedup/decisions/deduplicate.h"
#include "dedup/search/search.h"
#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Compares the pictures of pairs; returns for each pair whether both show one picture.
using ShownPairs = std::function<std::vector<bool>(std::span<const Edge>)>;
// Maximum number of labelled pairs whose pictures are compared: those with the nearest codes.
inline constexpr std::size_t kMostShown = 200;

struct CurveOptions {
  std::string hash = "phash";  // name of a hash that the table has
  int most = -1;  // largest threshold to measure, in bits; negative: see measure_curve()
  // The largest threshold is where so many pairs are expected by chance; nullopt: as many as
  // images.
  std::optional<double> chance_pairs = {};
  std::uint64_t seed = 0;  // for drawing random pairs
  SearchOptions search = {};
  LinkSource links = {};  // source of links; empty: a search with the options `search`
  // Compares pictures to estimate the share of wrong labels. Empty: copies are assumed to have
  // correct labels.
  ShownPairs shown = {};
  LeastQuality least_quality = {};
};

// Statistics of one threshold.
struct CurvePoint {
  int threshold = 0;
  std::uint64_t pairs = 0;        // pairs within it, exactly
  std::uint64_t other_class = 0;  // pairs whose images are both labelled, differently
  std::uint64_t labelled = 0;     // pairs whose images are both labelled
  std::uint64_t grouped = 0;      // number of images in a component of two or more
  std::uint64_t removable = 0;    // number of images beyond the first of each component
  // Probability that two random, unrelated images are within the threshold, by the fit
  // (Curve::independent_bits).
  double chance_probability = 0;
  // Expected number of pairs within the threshold that are not duplicates.
  double false_pairs = 0;
  // Expected share of pairs that are duplicates, and its lower bound with 95 % confidence if pairs
  // are independent. nullopt if there are no pairs.
  std::optional<double> precision;
  std::optional<double> precision_at_least;
};

// Labels are used to estimate false pairs only if labels of random pairs of images differ more
// often than those of copies, by at least this probability.
inline constexpr double kLeastChanceOfOtherClass = 0.05;

// How false pairs are estimated; see Curve.
enum class FalsePairs { kByClass, kByDistance };

// Estimated quality of every threshold of one hash on the user's own images, without ground truth.
// Images of too low quality are left out, as in deduplicate().
//
// By class
// - Labels of a false pair are assumed to differ as often as those of two random images (`chance`).
//   Labels of a true pair are assumed to differ as often as those of pairs that were shown to be
//   one by comparing pictures (`label_errors`). The number of false pairs follows.
// - Pairs of equal pixels are never false. If pictures were not compared, every other pair with
//   different labels counts as false: a conservative estimate.
// - Used if at least half of the pairs within the largest threshold are labelled, some labels
//   differ, and `chance` exceeds `label_errors` by 0.05 or more.
//
// By distance
// - Distances of unrelated images are assumed to follow a binomial distribution with
//   `independent_bits` degrees of freedom (Daugman 2003). It is fitted to random pairs, without
//   those that are more than five standard deviations too near: these are related.
// - False pairs are assumed to decline towards smaller thresholds like that distribution. The pairs
//   found at a larger threshold, scaled down by it, are a lower bound.
// - Pictures of one kind are nearer than that, so precision is overestimated by some points
//   (CIFAR-10, pHash at 8 bits: 96 % by distance, 88 % by class).
// - If the largest threshold is too small to contain pairs by chance, the fit gives their number.
// - Codes of n orientations give a random pair n chances to be near. `mean` and `independent_bits`
//   are those of one orientation.
struct Curve {
  std::string hash;
  int bits = 0;
  LeastQuality least_quality = {};  // as requested
  std::uint64_t images = 0;
  FalsePairs by = FalsePairs::kByDistance;
  double chance = 0;  // probability that two random images have different labels
  // Probability that two images shown to be one picture have different labels.
  double label_errors = 0;
  // Number of pairs of equal pixels with different labels; these are never false.
  std::uint64_t equal_pixels_other_class = 0;
  // Degrees of freedom of the binomial distribution fitted to the distances of random pairs. 0: all
  // codes are equal.
  double independent_bits = 0;
  double mean = 0;                 // mean distance of random pairs, in bits
  std::vector<CurvePoint> points;  // thresholds 0, 1, ...

  // Number of pairs within a threshold that have different labels and unequal pixels: they may be
  // false.
  std::uint64_t unequal_of_other_class(const CurvePoint& point) const noexcept {
    return point.other_class - std::min(point.other_class, equal_pixels_other_class);
  }
  // Whether labels are suited to show which pairs are false.
  bool do_labels_tell() const noexcept { return chance - label_errors >= kLeastChanceOfOtherClass; }
  // Estimated share of false pairs among pairs whose images are both labelled.
  // labelled  Number of these pairs.
  // other     Number of those among them that have different labels.
  double false_share(double labelled, double other) const noexcept;
};

// Counts the pairs within every threshold up to the largest one, and estimates how many are false.
// Parallel by TBB; the same result for any number of threads.
//
// Largest threshold  options.most if it is not negative. Otherwise the one at which chance alone is
//                    expected to link options.chance_pairs pairs (by default as many as images),
//                    but at least an eighth of the bits. Few images with long codes are searched
//                    furthest.
// Memory             About 60 bytes an image, besides the codes and find_edges().
// Errors             As deduplicate().
Curve measure_curve(const ColumnSource& columns, const CurveOptions& options);
// Like measure_curve(), but without a search: points have only what the fit says of chance, no
// pairs.
Curve chance_curve(const ColumnSource& columns, const CurveOptions& options);

// Why a threshold was chosen and no larger one.
enum class ThresholdReason {
  kPrecision,    // the next larger threshold is less precise than required
  kSearchLimit,  // larger thresholds were not searched
  kNoPairs,    // no precise threshold has pairs: the usual one, or just below the first false pair
  kRisk,       // the next larger threshold has more false pairs than allowed
  kFewImages,  // too few images to measure: the usual threshold was taken
};

struct ThresholdChoice {
  int threshold = 0;
  ThresholdReason reason = ThresholdReason::kPrecision;
};

// The largest threshold such that it and all lower ones have at least this estimated precision. If
// several find the same pairs, the smallest of them. Thresholds without pairs count as precise.
// nullopt if not even 0 bits are.
std::optional<ThresholdChoice> choose_threshold(const Curve& curve, double precision);

}  // namespace winnow::dedup
