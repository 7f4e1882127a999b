#pragma once

#include <cstdint>
#include <span>

#include "dedup/fingerprints.h"
#include "dedup/verify/verify.h"

namespace winnow::dedup {

// How probable verified pairs must be, at least `least`, as far as their labels tell. Pictures that
// are alike and not one, as digits of one hand are, reach a probability more often than strangers
// do that are drawn at random; but then some of them differ in label.
//
// Returns `least` unless five pairs or more differ in label beyond what the surest pairs (0.9999)
// do, which is what labels err by; then what leaves out all but what may be chance. At most 0.9999.
double probable_by_labels(std::span<const VerifiedPair> pairs, const Ragged<std::int32_t>& labels,
                          double least);

}  // namespace winnow::dedup
