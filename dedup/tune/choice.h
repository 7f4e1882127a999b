#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dedup/tune/curve.h"

namespace winnow::dedup {

// Of fewer images with enough in them no threshold is measured: it is the usual one.
inline constexpr std::uint64_t kFewestToFit = 100;

// What is asked of a hash and a threshold.
struct Demand {
  double risk = 0.5;                // fewer false pairs than this are expected
  std::optional<double> precision;  // instead: this share of the pairs is expected to be right
  LeastQuality least_quality = {};  // of images, not of the choice

  friend bool operator==(const Demand&, const Demand&) = default;
};

// Pictures that are nearer to each other than chance has it, though no copies: digits, portraits,
// products on white.
struct Alike {
  int allowed = 0;  // the largest threshold by chance alone
  int beyond = 0;   // a larger one; by class, the same
  // Within `allowed` by class; else between both.
  std::uint64_t pairs = 0;
  double expected = 0;  // of them: false by their labels, or else by chance
  bool by_class = false;
};

// What to compare images by, and what that comes to.
struct HashAndThreshold {
  std::string hash;
  int threshold = 0;
  int bits = 0;  // that codes have
  ThresholdReason reason = ThresholdReason::kRisk;
  std::uint64_t images = 0;
  std::uint64_t pairs = 0;     // within it
  double false_pairs = 0;      // of them, expected
  std::optional<Alike> alike;  // codes alone are unsafe beyond the threshold
};

// The false pairs within a point's threshold: three times as many as chance makes by the fit, for
// real photos are that much nearer at most, or as the labels of half of the pairs or more say,
// whichever is more. Fewer than 1000 images count as 1000.
double expected_false_pairs(const Curve& curve, const CurvePoint& point);

// By risk: the largest threshold with fewer expected false pairs there and below. Of fewer than 100
// images the usual threshold, for a fit to them says little. It needs the curve of such
// chance_pairs or more.
// Where pictures without labels are alike, all pairs within Alike::beyond are taken for false, and
// to become rarer downwards as the square root of what chance makes: of CIFAR-10 and Fashion-MNIST
// that gives 60 and 25 bits of phash16, and their labels 63 and 25.
// By precision: as choose_threshold().
// Nothing if not even 0 bits will do. Pure.
std::optional<HashAndThreshold> choose(const Curve& curve, const Demand& demand);
double chance_pairs_for(const Demand& demand) noexcept;

// Of stored hashes those that are looked at unasked: of very many images none of more than 64 bits,
// where there are others.
std::vector<std::string> worth_comparing(std::span<const std::string> hashes, std::uint64_t images);

// Of the curves of several hashes the choice with the most expected true pairs. Of those that
// differ by five or fewer, which may be chance, the one with the longest codes, for it finds more
// edits at the same risk; then the first.
std::optional<HashAndThreshold> choose(std::span<const Curve> curves, const Demand& demand);

// A choice, and a search that has what was found for it: the deduplication after it need not search
// again.
struct Chosen {
  HashAndThreshold choice;
  LinkSource links;
};

// Measures and chooses among `hashes`, each only as far as the demand makes it necessary. `search`:
// as of deduplicate(); it is asked for all links. `shown`: as CurveOptions has it. Throws as
// measure_curve() does.
std::optional<Chosen> measure_and_choose(const ColumnSource& columns,
                                         std::span<const std::string> hashes, const Demand& demand,
                                         const LinkSource& search = {},
                                         const ShownPairs& shown = {});

// For images that are looked for among those of a table: by risk and by chance alone, without a
// search. The risk is that of all pairs of the table.
std::optional<HashAndThreshold> choose_by_chance(const ColumnSource& columns,
                                                 const std::string& hash, const Demand& demand);

}  // namespace winnow::dedup
