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

#include "dedup/deduplicate.h"
#include "dedup/fingerprints.h"
#include "dedup/search/search.h"

namespace winnow::dedup {

// Which of these pairs their pictures show to be one, an answer for each.
using ShownPairs = std::function<std::vector<bool>(std::span<const Edge>)>;
// At most so many labelled pairs are asked about, those nearest by codes.
inline constexpr std::size_t kMostShown = 200;

struct CurveOptions {
  std::string hash = "phash";  // a row of hashes.h that the table has
  int most = -1;               // the largest threshold, in bits; negative: see measure_curve()
  // The pairs that chance makes within the largest threshold, at most; nothing: as many as images.
  std::optional<double> chance_pairs = {};
  std::uint64_t seed = 0;  // of the pairs that are drawn at random
  SearchOptions search = {};
  LinkSource links = {};  // in place of a search by `search`
  ShownPairs shown = {};  // what labels say is weighed by; empty: no label of a copy is wrong
  LeastQuality least_quality = {};
};

// What one threshold comes to.
struct CurvePoint {
  int threshold = 0;
  std::uint64_t pairs = 0;        // within it, exactly
  std::uint64_t other_class = 0;  // of them, labelled on both sides, and not alike
  std::uint64_t labelled = 0;     // of them, labelled on both sides
  std::uint64_t grouped = 0;      // images that hang together with another
  std::uint64_t removable = 0;    // of them, all but one of each group
  // That two unlike images drawn at random are within it, by the fit (Curve::independent_bits).
  double chance_probability = 0;
  // Pairs that are expected to be no duplicates.
  double false_pairs = 0;
  // Share of the pairs that are, and a bound that it is above with 95 % confidence, if pairs are
  // independent; nothing where there are no pairs.
  std::optional<double> precision;
  std::optional<double> precision_at_least;
};

// Labels say which pairs are false where two images drawn at random differ in them this much more
// often than copies do.
inline constexpr double kLeastChanceOfOtherClass = 0.05;

// How false pairs are estimated.
enum class FalsePairs { kByClass, kByDistance };

// Thresholds of one hash on one's own images, without any truth known. Images of too little
// quality are left out, as deduplicate() leaves them out.
//
// By class: a pair that is no duplicate has other labels on both sides as often as two images drawn
// at random have (`chance`), a duplicate as often as pairs that pictures show to be one
// (`label_errors`), so the pairs that differ beyond those, over the difference, are the false ones.
// Duplicates of equal pixels count as none. Where nobody looks at pictures, duplicates whose labels
// differ count as false: the estimate errs on the safe side. Used where at least half of the pairs
// within the largest threshold are labelled, some of them differ, and chance is 5 % or more above
// label errors.
//
// By distance: distances of unlike images follow a binomial distribution of `independent_bits`
// (degrees of freedom, Daugman 2003), fitted to random pairs without those that are nearer than
// five deviations to each other, which are no strangers. False pairs are taken to become rarer
// from a threshold downwards as that does, so the pairs found at each larger threshold, scaled down
// by it, are at least as many. Pictures of one kind are nearer to each other than that: expect too
// much precision by some points (of CIFAR-10's pHash at 8 bits 96 %, by class 88 %). Where
// the largest threshold is too small for chance to be seen, the fit says how many are false. Codes
// of n orientations give a random pair n chances; `mean` and `independent_bits` are of the pictures
// as they are.
struct Curve {
  std::string hash;
  int bits = 0;
  LeastQuality least_quality = {};  // as it was asked for
  std::uint64_t images = 0;
  FalsePairs by = FalsePairs::kByDistance;
  double chance = 0;        // that two images drawn at random have other labels
  double label_errors = 0;  // that images which pictures show to be one have other labels
  std::uint64_t equal_pixels_other_class = 0;  // pairs: no false ones, whatever their labels
  double independent_bits = 0;                 // of random pairs' distances; 0: no two codes differ
  double mean = 0;                             // of those distances, in bits
  std::vector<CurvePoint> points;              // thresholds 0, 1, ...

  // Pairs within a threshold that may be false by their labels.
  std::uint64_t unequal_of_other_class(const CurvePoint& point) const noexcept {
    return point.other_class - std::min(point.other_class, equal_pixels_other_class);
  }
  // Whether labels say which pairs are false.
  bool do_labels_tell() const noexcept { return chance - label_errors >= kLeastChanceOfOtherClass; }
  // Of `labelled` pairs of which so many differ, the share that is false by labels that tell.
  double false_share(double labelled, double other) const noexcept;
};

// Counts all pairs up to the largest threshold, by TBB. Holds some 60 bytes an image besides the
// codes and what find_edges() needs. The same for any number of threads. Throws as deduplicate()
// does.
//
// Largest threshold  options.most, or how far a search is worth while: where chance alone links as
//                    many pairs as there are images, or options.chance_pairs; where that is not
//                    said, at least an eighth of the bits. Few images of many bits are searched
//                    furthest.
Curve measure_curve(const ColumnSource& columns, const CurveOptions& options);
// The same without a search: what chance makes of these thresholds, and no pairs.
Curve chance_curve(const ColumnSource& columns, const CurveOptions& options);

// Why a threshold was chosen.
enum class ThresholdReason {
  kPrecision,    // the next one is less precise than asked for
  kSearchLimit,  // larger ones were not looked at
  kNoPairs,    // no precise threshold has pairs: it is the usual one, or below the first false pair
  kRisk,       // the next one has more false pairs than asked for
  kFewImages,  // too few to measure by: it is the usual one
};

struct ThresholdChoice {
  int threshold = 0;
  ThresholdReason reason = ThresholdReason::kPrecision;
};

// The largest threshold with a precision of at least `precision` there and below, by estimate. Of
// those that find the same pairs the smallest. Thresholds without pairs count as precise. Nothing
// if 0 bits are not precise.
std::optional<ThresholdChoice> choose_threshold(const Curve& curve, double precision);

}  // namespace winnow::dedup
