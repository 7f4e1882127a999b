#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

namespace winnow::pipeline {

// Some samples of a cache.
struct Choice {
  std::vector<std::size_t> rows;  // ascending rows of the table
  // The selection row of each of these rows; empty without a selection.
  std::vector<std::size_t> decisions;
};

// Throws FormatError unless the selection has exactly the samples of the table (which has ids):
// only then do its rows apply to the table's. Pure.
void check_is_of(const dedup::Selection& selection, const dedup::Fingerprints& table);

// The samples used in `split`, or all, according to `selection` if there is one. Removed samples
// (weight 0) only with `removed_too`. `table` has ids and splits. Throws as check_is_of(). Pure.
Choice choose(const dedup::Fingerprints& table, std::optional<Split> split,
              const dedup::Selection* selection, bool removed_too);

// Sets the splits of a table to those of the selection. Throws likewise.
void apply_splits(const dedup::Selection& selection, dedup::Fingerprints& table);

}  // namespace winnow::pipeline
