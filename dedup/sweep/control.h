#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

// Control experiments for removing duplicates: remove as many training samples of each class at
// random. Otherwise the effect of less data cannot be told from that of better data. Pure
// functions.
namespace winnow::dedup {

// Number of samples by set of labels. A set is ascending.
using ClassCounts = std::map<std::vector<std::int32_t>, std::uint64_t>;

// Counts samples by their sets of labels.
// thinned_by_class  Samples of train that the selection removes, or gives less weight, because
//                   another represents them (count_thinned).
// kept_by_class     Samples that the selection uses in `split`, with a weight above 0.
// table             Has splits and labels of the selection's rows.
ClassCounts thinned_by_class(const Selection& selection, const Fingerprints& table);
ClassCounts kept_by_class(const Selection& selection, const Fingerprints& table,
                          Split split = Split::kTrain);

// The sets of labels that have samples in `before` and none in `after`.
std::vector<std::vector<std::int32_t>> vanished(const ClassCounts& before,
                                                const ClassCounts& after);

// How much two class distributions differ: the share of the larger total that they do not have in
// common. 0: equal; 1: no class in common.
double counts_apart(const ClassCounts& a, const ClassCounts& b) noexcept;

// Decides which removals can share a control experiment. Each removal uses the control of the first
// earlier one that differs by at most `tolerance` (counts_apart), else its own. Returns for each
// the number of the removal whose control it uses.
std::vector<std::size_t> share_controls(std::span<const ClassCounts> removals, double tolerance);

// Makes a control: `base`, which removes no duplicates, with `counts` samples of each class removed
// from train, drawn by `seed`.
// With one seed, a smaller removal is a subset of a larger one. Rule::kReview is given as the
// reason, because no other sample represents the removed ones.
// Errors  UsageError if a class has too few samples.
Selection draw_control(const Selection& base, const Fingerprints& table, const ClassCounts& counts,
                       std::uint64_t seed);

}  // namespace winnow::dedup
