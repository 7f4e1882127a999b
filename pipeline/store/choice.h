#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dedup/fingerprints.h"
#include "dedup/selection.h"

namespace winnow::pipeline {

// Samples of a cache.
struct Choice {
  std::vector<std::size_t> rows;  // of the table, ascending
  // Of each of these rows, its row in the selection; empty without one.
  std::vector<std::size_t> decisions;
};

// Throws FormatError unless the selection is of just the samples of the table, which has ids: what
// a selection says by row is said of the table's rows only then. Pure.
void check_is_of(const dedup::Selection& selection, const dedup::Fingerprints& table);

// The samples that are used in `split`, or all, as `selection`, if there is one, has them: those it
// removed, of weight 0, only with `removed_too`. `table` has ids and splits. Throws as
// check_is_of(). Pure.
Choice choose(const dedup::Fingerprints& table, std::optional<Split> split,
              const dedup::Selection* selection, bool removed_too);

// Puts the splits of a table to those in which the selection uses its samples. Throws likewise.
void obey_splits(const dedup::Selection& selection, dedup::Fingerprints& table);

}  // namespace winnow::pipeline
