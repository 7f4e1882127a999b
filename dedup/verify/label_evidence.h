#pragma once

#include <cstdint>
#include <span>

#include "dedup/table/fingerprints.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// The probability, at least `least`, that verified pairs must have according to their labels.
// Similar but different pictures, such as digits in one hand, reach a probability more often than
// random ones; but some of them then differ in label.
//
// Returns  `least`, unless at least five more pairs differ in label than the surest pairs (0.9999)
//          suggest, which show the label error. Then the probability that leaves out all beyond
//          chance. At most 0.9999.
double probable_by_labels(std::span<const VerifiedPair> pairs, const Ragged<std::int32_t>& labels,
                          double least);

}  // namespace winnow::dedup
