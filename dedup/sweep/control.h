#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/selection.h"

// What a deduplication is to be compared with: as many training samples of each class removed at
// random. Without it less data and better data are not told apart. Pure functions.
namespace winnow::dedup {

// How many of each set of labels, which ascend.
using ClassCounts = std::map<std::vector<std::int32_t>, std::uint64_t>;

// Of the samples used in train those that a selection thins (count_thinned), and of those used in a
// split those that it leaves with a weight. `table` has splits and labels, of the selection's rows.
ClassCounts thinned_by_class(const Selection& selection, const Fingerprints& table);
ClassCounts kept_by_class(const Selection& selection, const Fingerprints& table,
                          Split split = Split::kTrain);

// Classes that `before` has samples of, and `after` none.
std::vector<std::vector<std::int32_t>> vanished(const ClassCounts& before,
                                                const ClassCounts& after);

// The share of samples by which two counts differ in their classes, of the larger: 0 equal, 1
// nothing in common.
double counts_apart(const ClassCounts& a, const ClassCounts& b) noexcept;

// Which of several removals share a control: each that of the first before it that is at most
// `tolerance` apart, its own if there is none. Their places.
std::vector<std::size_t> share_controls(std::span<const ClassCounts> removals, double tolerance);

// `base`, which thins nothing, with so many samples of each class fewer in train, drawn by `seed`.
// Under one seed those of a smaller removal are among those of a larger one.
// Removed are they by the rule of a review, for no other sample stands for them.
// Errors: UsageError where there are not so many.
Selection draw_control(const Selection& base, const Fingerprints& table, const ClassCounts& counts,
                       std::uint64_t seed);

}  // namespace winnow::dedup
