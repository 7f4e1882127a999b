#pragma once

#include <cstdint>
#include <span>

#include "dedup/fingerprints.h"
#include "dedup/selection.h"

namespace winnow::dedup {

// What a selection leaves of what a deduplication is for.
struct Remains {
  std::uint64_t leaks = 0;      // test images that have a duplicate among the samples trained on
  std::uint64_t conflicts = 0;  // groups of duplicates trained on whose labels differ
  friend bool operator==(const Remains&, const Remains&) = default;
};

// In   `duplicates`: the number of each row's group of duplicates, below the number of rows;
//      `table` has splits, by which test is told, and labels
// Trained on are samples that the selection uses in train with a weight above 0. Pure.
Remains remains_of(const Selection& selection, const Fingerprints& table,
                   std::span<const std::uint32_t> duplicates);

}  // namespace winnow::dedup
