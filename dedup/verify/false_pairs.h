#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// Takes pairs that were left out from the scores of a verification: they tell nothing of those that
// are left. `near`: those near by codes; sorted.
void leave_uncounted(std::span<const VerifiedPair> left_out, std::span<const Edge> near,
                     Verification& verification);

// How probable pairs must be.
struct LeastProbability {
  double shown = 0;                    // where a closer look showed a copy
  double near = 0;                     // else, where codes are near
  bool only_shown = false;             // no probability is enough of others
  std::optional<double> far = {};      // where they are not: more, if pictures are alike; nothing:
                                       // no probability is enough
  bool raised_by_labels = false;       // see probable_by_labels
  bool raised_by_look_alikes = false;  // see look_alikes.h; of `far`
};

// Whether a pair is one of these edges, which are sorted.
bool is_among(std::span<const Edge> sorted, const VerifiedPair& pair);
// Whether it is as probable as is asked of such pairs. `near`: those near by codes; sorted.
bool is_probable(const VerifiedPair& pair, const LeastProbability& least,
                 std::span<const Edge> near);

// What tells how many pairs are false.
struct FalsePairEvidence {
  const Calibration& calibration;
  std::span<const Edge> near;                    // pairs near by codes; sorted
  const Ragged<std::int32_t>* labels = nullptr;  // by row; nullptr: they tell nothing
};

// What is asked of pairs.
struct PairDemand {
  double least_probability = 0.9;
  std::optional<double> most_false = {};  // expected; then more is asked where that needs it
};

// What was asked of those that were kept.
struct KeptPairs {
  LeastProbability least;
  double expected_false = 0;  // pairs of different pictures, as far as the scores tell
  // As probable as was demanded, and left out all the same; sorted by rows.
  std::vector<VerifiedPair> doubtful = {};
};

// No more false pairs than this are there in 95 of 100 sets of which so many are expected
// (Poisson).
std::uint64_t most_false_pairs(double expected) noexcept;

// Leaves out pairs that are less probable, or leaves them to their codes where they lack details.
// With most_false: no more pairs of strangers are expected among those kept; those that codes do
// not bring together are so probable that look-alikes are left out (look_alikes.h); and no more of
// them differ in label (label_evidence.h). Of pairs that a closer look showed no more is asked than
// least_probability. Where no probability is enough only those are left.
KeptPairs leave_out_false(const FalsePairEvidence& evidence, const PairDemand& demand,
                          Verification& verification);

}  // namespace winnow::dedup
