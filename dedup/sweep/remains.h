#pragma once

#include <cstdint>
#include <span>

#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

namespace winnow::dedup {

// The duplicates that a selection leaves.
struct Remains {
  std::uint64_t leaks = 0;      // test images with a duplicate among the training samples
  std::uint64_t conflicts = 0;  // groups of duplicate training samples with different labels
  friend bool operator==(const Remains&, const Remains&) = default;
};

// Counts what a selection leaves. Training samples are those used in train with a weight above 0.
// Pure.
// duplicates  For each row the number of its group of duplicates, below the number of rows.
// table       Has splits (which define test) and labels.
Remains remains_of(const Selection& selection, const Fingerprints& table,
                   std::span<const std::uint32_t> duplicates);

}  // namespace winnow::dedup
