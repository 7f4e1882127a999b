#include "dedup/verify/false_pairs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "dedup/verify/label_evidence.h"
#include "dedup/verify/look_alikes.h"

namespace winnow::dedup {
namespace {

// Registered pairs that are not copies.
double strangers_of(const Verification& verification) {
  return static_cast<double>(verification.counts.registered) -
         static_cast<double>(verification.pairs.size());
}

// The probability, at least `least`, at which at most `most_false` different pictures are expected
// among the pairs. Iterates, because raising it leaves more registered pairs that count as
// different.
double enough(const Verification& verification, const Calibration& calibration, double least,
              double most_false) {
  for (;;) {
    const auto verified = std::ranges::count_if(
        verification.pairs, [&](const VerifiedPair& pair) { return pair.probability >= least; });
    const double non_duplicates =
        static_cast<double>(verification.counts.registered) - static_cast<double>(verified);
    const double more = calibration.least_probability(non_duplicates, most_false);
    if (more <= least) return least;
    least = more;
  }
}

// Removes less probable pairs, or leaves them to their codes.
void keep_probable(const LeastProbability& least, std::span<const Edge> near,
                   Verification& verification) {
  const auto is_too_doubtful = [&](const VerifiedPair& pair) {
    return !is_probable(pair, least, near);
  };
  for (const VerifiedPair& pair : verification.pairs) {
    if (!is_too_doubtful(pair) || !pair.lacks_details) continue;
    verification.undecided.push_back({pair.row_a, pair.row_b, 0});
  }
  std::erase_if(verification.pairs, is_too_doubtful);
  std::ranges::sort(verification.undecided);
  verification.counts.verified = verification.pairs.size();
}

std::vector<double> far_probabilities(const Verification& verification,
                                      std::span<const Edge> near) {
  std::vector<double> far;
  for (const VerifiedPair& pair : verification.pairs) {
    if (!is_among(near, pair)) far.push_back(pair.probability);
  }
  return far;
}

// Raises the required probabilities, more for pairs that are not near by codes.
void leave_out_look_alikes(const FalsePairEvidence& evidence, double most_false,
                           Verification& verification, KeptPairs& kept) {
  const std::optional<double>& copies = evidence.calibration.copies;
  if (!copies) return;
  const auto look_alikes = find_look_alikes(verification.far_scores, *copies);
  if (!look_alikes) return;
  LeastProbability& least = kept.least;
  const double by_chance = least.near;
  least.far = probable_beside(*look_alikes, far_probabilities(verification, evidence.near),
                              by_chance, most_false);
  const std::optional<double> near =
      probable_when_near(*look_alikes, verification.near_scores, by_chance, most_false);
  least.near = near.value_or(by_chance);
  least.only_shown = !near;
  if (least.only_shown) least.far.reset();
  if (least.far) least.far = std::max(*least.far, least.near);
  least.raised_by_look_alikes = !least.far || *least.far > by_chance;
  const double expected = (near ? look_alikes->expected_of(verification.near_scores, *near) : 0) +
                          (least.far ? look_alikes->expected(*least.far) : 0);
  kept.expected_false = least.only_shown ? 0 : std::max(kept.expected_false, expected);
  keep_probable(least, evidence.near, verification);
}

void leave_out_what_labels_tell(const FalsePairEvidence& evidence, Verification& verification,
                                LeastProbability& least) {
  if (evidence.labels == nullptr) return;
  const double by_labels = probable_by_labels(verification.pairs, *evidence.labels, least.near);
  least.raised_by_labels = by_labels > least.near;
  least.near = by_labels;
  if (least.far) least.far = std::max(*least.far, by_labels);
  keep_probable(least, evidence.near, verification);
}

}  // namespace

void leave_uncounted(std::span<const VerifiedPair> left_out, std::span<const Edge> near,
                     Verification& verification) {
  for (const VerifiedPair& pair : left_out) {
    if (!is_among(near, pair)) {
      verification.far_scores.take_away(pair.probability);
    } else if (!pair.lacks_details) {
      verification.near_scores.take_away(pair.probability);
    }
  }
}

bool is_among(std::span<const Edge> sorted, const VerifiedPair& pair) {
  const auto rows = [](const Edge& edge) { return std::pair(edge.a, edge.b); };
  return std::ranges::binary_search(sorted, std::pair(pair.row_a, pair.row_b), {}, rows);
}

bool is_probable(const VerifiedPair& pair, const LeastProbability& least,
                 std::span<const Edge> near) {
  if (pair.is_shown) return pair.probability >= least.shown;
  if (least.only_shown) return false;
  if (is_among(near, pair)) return pair.probability >= least.near;
  return least.far && pair.probability >= *least.far;
}

std::uint64_t most_false_pairs(double expected) noexcept {
  constexpr double kMany = 100;  // from here on a normal distribution is good enough
  if (expected > kMany)
    return static_cast<std::uint64_t>(expected + 1.645 * std::sqrt(expected)) + 1;
  double share = std::exp(-expected);
  double at_most = share;
  std::uint64_t pairs = 0;
  while (at_most < 0.95) {
    ++pairs;
    share *= expected / static_cast<double>(pairs);
    at_most += share;
  }
  return pairs;
}

KeptPairs leave_out_false(const FalsePairEvidence& evidence, const PairDemand& demand,
                          Verification& verification) {
  const std::vector<VerifiedPair> before = verification.pairs;
  KeptPairs kept;
  kept.least.shown = demand.least_probability;
  kept.least.near = demand.least_probability;
  if (demand.most_false) {
    kept.least.near =
        enough(verification, evidence.calibration, demand.least_probability, *demand.most_false);
  }
  kept.least.far = kept.least.near;
  keep_probable(kept.least, evidence.near, verification);
  kept.expected_false =
      evidence.calibration.expected_false(strangers_of(verification), kept.least.near);
  if (demand.most_false) {
    leave_out_look_alikes(evidence, *demand.most_false, verification, kept);
    leave_out_what_labels_tell(evidence, verification, kept.least);
  }
  std::ranges::copy_if(before, std::back_inserter(kept.doubtful), [&](const VerifiedPair& pair) {
    return pair.probability >= demand.least_probability && !pair.lacks_details &&
           !is_probable(pair, kept.least, evidence.near);
  });
  return kept;
}

}  // namespace winnow::dedup
