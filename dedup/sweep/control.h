#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

// Control experiments for a deduplication: remove the same number of training samples of each class
// at random. Otherwise the effects of less data and of better data cannot be told apart. Pure
// functions.
namespace winnow::dedup {

// Number of samples for each set of labels (ascending).
using ClassCounts = std::map<std::vector<std::int32_t>, std::uint64_t>;

// thinned_by_class: the samples used in train that a selection thins (count_thinned).
// kept_by_class: the samples used in a split that have a weight.
// table  Has splits and labels of the selection's rows.
ClassCounts thinned_by_class(const Selection& selection, const Fingerprints& table);
ClassCounts kept_by_class(const Selection& selection, const Fingerprints& table,
                          Split split = Split::kTrain);

// Classes with samples in `before` and none in `after`.
std::vector<std::vector<std::int32_t>> vanished(const ClassCounts& before,
                                                const ClassCounts& after);

// The share of the larger count by which two class distributions differ: 0 if equal, 1 if nothing
// is common.
double counts_apart(const ClassCounts& a, const ClassCounts& b) noexcept;

// Which removals share a control. Each uses the control of the first earlier removal that differs
// by at most `tolerance`, else its own. Returns their indices.
std::vector<std::size_t> share_controls(std::span<const ClassCounts> removals, double tolerance);

// `base`, which thins nothing, with these numbers of samples of each class removed from train,
// drawn by `seed`.
// With one seed, a smaller removal is a subset of a larger one. The reason is Rule::kReview,
// because no other sample represents the removed ones.
// Errors  UsageError if there are not enough samples.
Selection draw_control(const Selection& base, const Fingerprints& table, const ClassCounts& counts,
                       std::uint64_t seed);

}  // namespace winnow::dedup
