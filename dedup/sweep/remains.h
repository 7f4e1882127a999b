#pragma once

#include <cstdint>
#include <span>

#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"

namespace winnow::dedup {

// Numbers of duplicates that a selection leaves in the data.
struct Remains {
  std::uint64_t leaks = 0;  // number of test images with a duplicate among the training samples
  // Number of duplicate groups of training samples with different labels.
  std::uint64_t conflicts = 0;
  friend bool operator==(const Remains&, const Remains&) = default;
};

// Counts the duplicates that a selection leaves. Training samples are those that it uses in train
// with a weight above 0. Pure.
// duplicates  For each row the number of its duplicate group, below the number of rows.
// table       Has labels and splits; its splits say which images are test images.
Remains remains_of(const Selection& selection, const Fingerprints& table,
                   std::span<const std::uint32_t> duplicates);

}  // namespace winnow::dedup
