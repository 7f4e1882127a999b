#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/table/fingerprints.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Removes the scores of left-out pairs from the histograms of a verification, because they tell
// nothing about the other pairs.
// near  Pairs near by hash codes; sorted.
void leave_uncounted(std::span<const VerifiedPair> left_out, std::span<const Edge> near,
                     Verification& verification);

// Required probabilities of pairs.
struct LeastProbability {
  double shown = 0;         // minimum for pairs that a closer look showed to be copies
  double near = 0;          // minimum for other pairs that are near by hash codes
  bool only_shown = false;  // pairs not shown to be copies are all rejected
  // Minimum for pairs whose hash codes are not near; raised if pictures look alike. nullopt: all
  // are rejected.
  std::optional<double> far = {};
  bool raised_by_labels = false;       // see probable_by_labels()
  bool raised_by_look_alikes = false;  // whether look-alikes (look_alikes.h) raised `far`
};

// Whether the rows of a pair are those of one of these edges (sorted).
bool is_among(std::span<const Edge> sorted, const VerifiedPair& pair);
// Whether a pair is as probable as required.
// near  Pairs near by hash codes; sorted.
bool is_probable(const VerifiedPair& pair, const LeastProbability& least,
                 std::span<const Edge> near);

// Evidence from which the number of false pairs is estimated.
struct FalsePairEvidence {
  const Calibration& calibration;
  std::span<const Edge> near;                    // pairs near by hash codes; sorted
  const Ragged<std::int32_t>* labels = nullptr;  // by row; nullptr: labels are not used
};

// Requirements for pairs.
struct PairDemand {
  double least_probability = 0.9;
  // Maximum expected number of false pairs; the required probability is raised to meet it.
  std::optional<double> most_false = {};
};

// The required probabilities that kept pairs met, and the pairs that did not.
struct KeptPairs {
  LeastProbability least;
  double expected_false = 0;  // expected number of kept pairs that are false, by scores
  // Pairs that met the requested probability but not the raised one; sorted by rows.
  std::vector<VerifiedPair> doubtful = {};
};

// Upper limit of a 95 % interval: the number of false pairs that is not exceeded in 95 of 100 cases
// if `expected` are expected (Poisson).
std::uint64_t most_false_pairs(double expected) noexcept;

// Removes pairs that are not probable enough from a verification. Pairs that lack details are left
// to their hash codes.
//
// If PairDemand::most_false is given
// - The expected number of kept pairs that are different pictures is limited to it.
// - Pairs that are not near by hash codes must be probable enough to exclude look-alikes
//   (look_alikes.h).
// - The number of pairs with different labels is limited as well (label_evidence.h).
// Pairs shown to be copies by a closer look only need least_probability. If no probability
// suffices, only these are left.
KeptPairs leave_out_false(const FalsePairEvidence& evidence, const PairDemand& demand,
                          Verification& verification);

}  // namespace winnow::dedup
