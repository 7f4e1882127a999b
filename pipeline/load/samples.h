#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"

namespace winnow::pipeline {

class Cache;

// The samples of one split that a selection leaves, in id order. An epoch has size() places: one
// for each sample, or, where samples take turns, one for each group of them.
struct SampleSet {
  std::vector<SampleId> ids;
  std::vector<float> weights;  // of each id
  // Place p belongs to samples turn_rows[turn_offsets[p] .. turn_offsets[p + 1]), indices into ids,
  // ascending; places are in the order of their first samples. Both empty: place p is sample p.
  std::vector<std::uint32_t> turn_offsets = {};
  std::vector<std::uint32_t> turn_rows = {};

  std::size_t size() const noexcept {
    return turn_offsets.empty() ? ids.size() : turn_offsets.size() - 1;
  }
};

// Throws UsageError when the cache holds fingerprints only.
void check_holds_images(const Cache& cache);

// `selection` may be empty: everything, weight 1. Only samples used in `split`, without those of
// weight 0. By a selection of mode kOnePerGroup the samples that one sample stands for take turns.
// Throws UsageError when nothing is left or when the cache holds fingerprints only; FormatError as
// Cache does and when the selection is not of just the samples of the cache.
SampleSet select_samples(const Cache& cache, Split split, const std::string& selection);

// Samples for which `stands_for` names the same one take turns; one entry for each of `ids`.
SampleSet take_turns(std::vector<SampleId> ids, std::vector<float> weights,
                     std::span<const SampleId> stands_for);

// The row of the first sample of `place`, an index into ids; those of places ascend.
std::size_t first_row(const SampleSet& samples, std::size_t place) noexcept;

// Whose turn it is at `place` when that comes up for the `turn`-th time, from 0: an index into
// ids. Over each block of as many turns as the place has samples every one once, in an order that
// is a pure function of (seed, block, first id).
std::size_t row_at(const SampleSet& samples, std::size_t place, std::uint64_t seed,
                   std::uint64_t turn);

}  // namespace winnow::pipeline
