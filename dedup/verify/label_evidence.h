#pragma once

#include <cstdint>
#include <span>

#include "dedup/table/fingerprints.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// The smallest probability, at least `least`, that verified pairs must have according to their
// labels.
// Similar but different pictures, such as digits in one hand, reach a probability more often than
// random pairs do. Some of them then have different labels, which shows it.
//
// Method   The surest pairs (0.9999) show how often labels of copies differ: label errors. If at
//          least five more pairs differ in label than that suggests, the result is the probability
//          that leaves out all beyond chance, at most 0.9999. Else it is `least`.
double probable_by_labels(std::span<const VerifiedPair> pairs, const Ragged<std::int32_t>& labels,
                          double least);

}  // namespace winnow::dedup
