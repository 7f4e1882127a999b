#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dedup/tune/curve.h"

namespace winnow::dedup {

// With fewer images of enough quality than this, a hash's usual threshold is taken instead of a
// measured one.
inline constexpr std::uint64_t kFewestToFit = 100;

// The user's demands on a hash and threshold.
struct Demand {
  double risk = 0.5;  // the expected number of false pairs must be below this
  // If given, used instead of `risk`: minimum expected precision of the found pairs.
  std::optional<double> precision;
  LeastQuality least_quality = {};  // for images

  friend bool operator==(const Demand&, const Demand&) = default;
};

// Statistics of an image set whose different pictures are nearer to each other than chance
// explains, such as digits, portraits or products on white.
struct Alike {
  // The largest threshold (bits) that would be chosen if distances were due to chance alone.
  int allowed = 0;
  int beyond = 0;  // a larger threshold in bits; equal to `allowed` if by_class
  // Number of pairs within `allowed` if by_class, else of pairs between `allowed` and `beyond`.
  std::uint64_t pairs = 0;
  // Expected number of false pairs among `pairs`: by labels if by_class, else by chance.
  double expected = 0;
  bool by_class = false;
};

// A chosen hash and threshold, and what they are expected to find.
struct HashAndThreshold {
  std::string hash;
  int threshold = 0;
  int bits = 0;  // length of the codes
  ThresholdReason reason = ThresholdReason::kRisk;
  std::uint64_t images = 0;
  std::uint64_t pairs = 0;  // within the threshold
  double false_pairs = 0;   // expected among these
  // Set if pictures look alike, so that codes alone are unsafe beyond the threshold.
  std::optional<Alike> alike;
};

// Expected number of false pairs within a point's threshold. The larger of two estimates:
// - three times the number of pairs by chance, from the curve's fit: real photos are at most that
//   much nearer to each other
// - by labels, if at least half of the pairs are labelled
//
// Fewer than 1000 images count as 1000.
double expected_false_pairs(const Curve& curve, const CurvePoint& point);

// Chooses the largest threshold that meets the demand. nullopt if not even 0 bits do. Pure.
//
// By risk       The largest threshold such that it and all lower ones have fewer expected false
//               pairs than Demand::risk. The curve must reach chance_pairs_for(). With fewer than
//               100 images: the usual threshold of the hash, because a fit means little.
// Alike         If unlabelled pictures look alike, all pairs within Alike::beyond count as false.
//               At a lower threshold where pairs by chance are n times rarer, false ones are
//               assumed to be sqrt(n) times rarer. For CIFAR-10 and Fashion-MNIST this gives 60 and
//               25 bits of phash16; their labels give 63 and 25.
// By precision  As choose_threshold().
std::optional<HashAndThreshold> choose(const Curve& curve, const Demand& demand);
double chance_pairs_for(const Demand& demand) noexcept;

// The stored hashes that are compared by default: all of them, but for very many images only those
// of at most 64 bits, if there are any.
std::vector<std::string> worth_comparing(std::span<const std::string> hashes, std::uint64_t images);

// Chooses among the curves of several hashes: the one with the most expected true pairs. If numbers
// differ by five or fewer, which may be chance, the longest codes win, because they find more edits
// at the same risk; then the first curve.
std::optional<HashAndThreshold> choose(std::span<const Curve> curves, const Demand& demand);

// A chosen hash and threshold, and the links found while measuring, so that the deduplication that
// follows need not search again.
struct Chosen {
  HashAndThreshold choice;
  LinkSource links;
};

// Measures several hashes and chooses one and its threshold. Each hash is only measured as far as
// the demand requires.
// search  Finds links, as for deduplicate(); all links are requested.
// shown   As in CurveOptions.
// Errors  As measure_curve().
std::optional<Chosen> measure_and_choose(const ColumnSource& columns,
                                         std::span<const std::string> hashes, const Demand& demand,
                                         const LinkSource& search = {},
                                         const ShownPairs& shown = {});

// Chooses a threshold for looking up images in a table: by risk and chance alone, without a search.
// The risk is that of all pairs of the table.
std::optional<HashAndThreshold> choose_by_chance(const ColumnSource& columns,
                                                 const std::string& hash, const Demand& demand);

}  // namespace winnow::dedup
