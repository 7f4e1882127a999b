#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/table/fingerprints.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Removes the scores of pairs that were left out from a verification, because they tell nothing
// about the rest.
// near  Pairs near by codes; sorted.
void leave_uncounted(std::span<const VerifiedPair> left_out, std::span<const Edge> near,
                     Verification& verification);

// Required probabilities of pairs.
struct LeastProbability {
  double shown = 0;         // if a closer look showed a copy
  double near = 0;          // otherwise, if codes are near
  bool only_shown = false;  // all other pairs are rejected
  // If codes are not near: higher if pictures look alike; nullopt: all are rejected.
  std::optional<double> far = {};
  bool raised_by_labels = false;       // see probable_by_labels()
  bool raised_by_look_alikes = false;  // `far` was raised, see look_alikes.h
};

// Whether a pair is one of these edges (sorted).
bool is_among(std::span<const Edge> sorted, const VerifiedPair& pair);
// Whether a pair is as probable as required.
// near  Pairs near by codes; sorted.
bool is_probable(const VerifiedPair& pair, const LeastProbability& least,
                 std::span<const Edge> near);

// Evidence for the number of false pairs.
struct FalsePairEvidence {
  const Calibration& calibration;
  std::span<const Edge> near;                    // pairs near by codes; sorted
  const Ragged<std::int32_t>* labels = nullptr;  // by row; nullptr: labels are not used
};

// Requirements for pairs.
struct PairDemand {
  double least_probability = 0.9;
  // Maximum expected number of false pairs; raises the required probability where needed.
  std::optional<double> most_false = {};
};

// The requirements that kept pairs met.
struct KeptPairs {
  LeastProbability least;
  double expected_false = 0;  // expected pairs of different pictures, according to the scores
  // Pairs that met the requested probability but were left out; sorted by rows.
  std::vector<VerifiedPair> doubtful = {};
};

// Upper bound of the number of false pairs in 95 of 100 sets, if `expected` are expected (Poisson).
std::uint64_t most_false_pairs(double expected) noexcept;

// Removes less probable pairs from a verification, or leaves them to their codes if they lack
// details.
//
// With most_false, in addition
// - The expected number of pairs of different pictures among those kept is limited.
// - Pairs that are not near by codes must be probable enough to exclude look-alikes
//   (look_alikes.h).
// - The number of pairs with different labels is limited as well (label_evidence.h).
// Shown pairs only need least_probability. If no probability suffices, only these are left.
KeptPairs leave_out_false(const FalsePairEvidence& evidence, const PairDemand& demand,
                          Verification& verification);

}  // namespace winnow::dedup
