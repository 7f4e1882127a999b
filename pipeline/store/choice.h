#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

namespace winnow::pipeline {

// A choice of samples of a cache.
struct Choice {
  std::vector<std::size_t> rows;  // rows of the fingerprint table, ascending
  // The row in the selection of each chosen sample; empty without a selection.
  std::vector<std::size_t> decisions;
};

// Throws FormatError unless the selection has exactly the samples of the table (which has ids), so
// that their rows correspond. Pure.
void check_is_of(const dedup::Selection& selection, const dedup::Fingerprints& table);

// Chooses the samples of `split`, or all, by the splits of `selection` if it is not null. Removed
// samples (weight 0) only with `removed_too`. `table` has ids and splits. Throws as check_is_of().
// Pure.
Choice choose(const dedup::Fingerprints& table, std::optional<Split> split,
              const dedup::Selection* selection, bool removed_too);

// Sets the splits of a table to those of the selection. Throws as check_is_of().
void apply_splits(const dedup::Selection& selection, dedup::Fingerprints& table);

}  // namespace winnow::pipeline
