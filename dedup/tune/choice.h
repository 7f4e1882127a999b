#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dedup/tune/curve.h"

namespace winnow::dedup {

// With fewer images of enough quality, the usual threshold is taken instead of measuring one.
inline constexpr std::uint64_t kFewestToFit = 100;

// Requirements for hash and threshold.
struct Demand {
  double risk = 0.5;  // maximum expected number of false pairs (exclusive)
  // Used instead if given: minimum expected precision of the pairs.
  std::optional<double> precision;
  LeastQuality least_quality = {};  // for images

  friend bool operator==(const Demand&, const Demand&) = default;
};

// Different pictures that are nearer to each other than chance explains: digits, portraits,
// products on white.
struct Alike {
  int allowed = 0;  // the largest threshold by chance alone
  int beyond = 0;   // a larger threshold; equal to `allowed` if by_class
  // Pairs within `allowed` if by_class, else between both thresholds.
  std::uint64_t pairs = 0;
  double expected = 0;  // false ones among them, by their labels or else by chance
  bool by_class = false;
};

// The chosen hash and threshold, with their expected result.
struct HashAndThreshold {
  std::string hash;
  int threshold = 0;
  int bits = 0;  // length of the codes
  ThresholdReason reason = ThresholdReason::kRisk;
  std::uint64_t images = 0;
  std::uint64_t pairs = 0;     // within the threshold
  double false_pairs = 0;      // expected among these
  std::optional<Alike> alike;  // set if codes alone are unsafe beyond the threshold
};

// Expected false pairs within a point's threshold. The larger of:
// - three times what chance makes by the fit, because real photos are at most that much nearer
// - what labels show, if at least half of the pairs are labelled
//
// Fewer than 1000 images count as 1000.
double expected_false_pairs(const Curve& curve, const CurvePoint& point);

// Chooses the largest threshold that meets the demand. nullopt if not even 0 bits do. Pure.
//
// By risk       The largest threshold with fewer expected false pairs than Demand::risk, at this
// and
//               at all lower thresholds. The curve must reach chance_pairs_for(). With fewer than
//               100 images the usual threshold of the hash, because a fit means little.
// Alike         If unlabelled pictures look alike, all pairs within Alike::beyond count as false.
//               At a lower threshold where pairs by chance are n times rarer, false ones are
//               assumed to be sqrt(n) times rarer. For CIFAR-10 and Fashion-MNIST this gives 60 and
//               25 bits of phash16; their labels give 63 and 25.
// By precision  As choose_threshold().
std::optional<HashAndThreshold> choose(const Curve& curve, const Demand& demand);
double chance_pairs_for(const Demand& demand) noexcept;

// The stored hashes that are compared by default: for very many images none of more than 64 bits,
// if there are others.
std::vector<std::string> worth_comparing(std::span<const std::string> hashes, std::uint64_t images);

// The best choice among the curves of several hashes: the most expected true pairs. If they differ
// by five or fewer, which may be chance, the longest codes win, which find more edits at the same
// risk; then the first.
std::optional<HashAndThreshold> choose(std::span<const Curve> curves, const Demand& demand);

// A choice, and a search that returns the links already found, so that the following deduplication
// need not search again.
struct Chosen {
  HashAndThreshold choice;
  LinkSource links;
};

// Measures and chooses among `hashes`, each only as far as the demand requires.
// search  As for deduplicate(); all links are requested.
// shown   As in CurveOptions.
// Errors  As measure_curve().
std::optional<Chosen> measure_and_choose(const ColumnSource& columns,
                                         std::span<const std::string> hashes, const Demand& demand,
                                         const LinkSource& search = {},
                                         const ShownPairs& shown = {});

// A choice for images that are looked up in a table: by risk and chance alone, without a search.
// The risk refers to all pairs of the table.
std::optional<HashAndThreshold> choose_by_chance(const ColumnSource& columns,
                                                 const std::string& hash, const Demand& demand);

}  // namespace winnow::dedup
