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

// For each pair, whether comparing the pictures shows one picture.
using ShownPairs = std::function<std::vector<bool>(std::span<const Edge>)>;
// Maximum number of labelled pairs that are compared: the nearest ones by codes.
inline constexpr std::size_t kMostShown = 200;

struct CurveOptions {
  std::string hash = "phash";  // a hash that the table has
  int most = -1;               // the largest threshold in bits; negative: see measure_curve()
  // Maximum number of chance pairs within the largest threshold; nullopt: the number of images.
  std::optional<double> chance_pairs = {};
  std::uint64_t seed = 0;  // for drawing random pairs
  SearchOptions search = {};
  LinkSource links = {};  // replaces a search by `search`
  // Used to estimate label errors; empty: copies are assumed to have correct labels.
  ShownPairs shown = {};
  LeastQuality least_quality = {};
};

// Statistics of one threshold.
struct CurvePoint {
  int threshold = 0;
  std::uint64_t pairs = 0;        // pairs within it, exactly
  std::uint64_t other_class = 0;  // pairs with labels on both sides that differ
  std::uint64_t labelled = 0;     // pairs with labels on both sides
  std::uint64_t grouped = 0;      // images in a component with at least one other
  std::uint64_t removable = 0;    // all but one image of each component
  // Probability that two random unlike images are within it, by the fit (Curve::independent_bits).
  double chance_probability = 0;
  // Expected number of pairs that are not duplicates.
  double false_pairs = 0;
  // Share of pairs that are duplicates, and its lower bound with 95 % confidence if pairs are
  // independent. nullopt if there are no pairs.
  std::optional<double> precision;
  std::optional<double> precision_at_least;
};

// Labels are used to detect false pairs if labels of random images differ by at least this much
// more often than those of copies.
inline constexpr double kLeastChanceOfOtherClass = 0.05;

// Method that estimates false pairs.
enum class FalsePairs { kByClass, kByDistance };

// Quality of all thresholds of one hash on the user's own images, without ground truth. Images of
// too low quality are left out, as in deduplicate().
//
// By class
// - Labels of a false pair differ as often as those of two random images (`chance`). Labels of a
//   duplicate differ as often as those of pairs that pictures show to be one (`label_errors`). The
//   number of false pairs follows.
// - Duplicates of equal pixels are never false. Without comparing pictures, duplicates with
//   different labels count as false: a conservative estimate.
// - Used if at least half of the pairs within the largest threshold are labelled, some labels
//   differ, and chance exceeds label errors by 5 % or more.
//
// By distance
// - Distances of unlike images follow a binomial distribution with `independent_bits` degrees of
//   freedom (Daugman 2003). It is fitted to random pairs, without those more than five deviations
//   too near, which are related.
// - False pairs are assumed to decline towards smaller thresholds like that distribution. The pairs
//   found at each larger threshold, scaled down by it, are a lower bound.
// - Pictures of one kind are nearer than that, so precision is overestimated by some points
//   (CIFAR-10, pHash at 8 bits: 96 %; by class 88 %).
// - If the largest threshold is too small to see chance pairs, the fit gives their number.
// - Codes of n orientations give a random pair n chances. `mean` and `independent_bits` refer to
//   pictures as they are.
struct Curve {
  std::string hash;
  int bits = 0;
  LeastQuality least_quality = {};  // as requested
  std::uint64_t images = 0;
  FalsePairs by = FalsePairs::kByDistance;
  double chance = 0;        // probability that two random images have different labels
  double label_errors = 0;  // probability that images shown to be one picture have different labels
  std::uint64_t equal_pixels_other_class = 0;  // pairs that are never false, whatever their labels
  // By the distances of random pairs; 0: all codes are equal.
  double independent_bits = 0;
  double mean = 0;                 // mean of those distances, in bits
  std::vector<CurvePoint> points;  // thresholds 0, 1, ...

  // Pairs within a threshold that may be false, by their labels.
  std::uint64_t unequal_of_other_class(const CurvePoint& point) const noexcept {
    return point.other_class - std::min(point.other_class, equal_pixels_other_class);
  }
  // Whether labels can show which pairs are false.
  bool do_labels_tell() const noexcept { return chance - label_errors >= kLeastChanceOfOtherClass; }
  // The share of false pairs among `labelled` pairs of which `other` differ in label.
  double false_share(double labelled, double other) const noexcept;
};

// Counts all pairs up to the largest threshold. Parallel by TBB; the same for any number of
// threads.
//
// Largest threshold  options.most; or where chance alone links options.chance_pairs pairs (by
//                    default as many as images). By default at least an eighth of the bits. Few
//                    images with many bits are searched furthest.
// Memory             About 60 bytes an image, besides the codes and find_edges().
// Errors             As deduplicate().
Curve measure_curve(const ColumnSource& columns, const CurveOptions& options);
// As measure_curve() without a search: the chance figures of its thresholds, and no pairs.
Curve chance_curve(const ColumnSource& columns, const CurveOptions& options);

// Why a threshold was chosen.
enum class ThresholdReason {
  kPrecision,    // the next threshold is less precise than required
  kSearchLimit,  // larger thresholds were not searched
  kNoPairs,    // no precise threshold has pairs: it is the usual one, or below the first false pair
  kRisk,       // the next threshold has more false pairs than allowed
  kFewImages,  // too few images to measure: it is the usual one
};

struct ThresholdChoice {
  int threshold = 0;
  ThresholdReason reason = ThresholdReason::kPrecision;
};

// The largest threshold whose estimated precision, and that of all lower ones, is at least
// `precision`. If several find the same pairs, the smallest of these. Thresholds without pairs
// count as precise. nullopt if 0 bits are not precise.
std::optional<ThresholdChoice> choose_threshold(const Curve& curve, double precision);

}  // namespace winnow::dedup
