#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"

namespace winnow::pipeline {

class Cache;

// The samples of one split that a selection keeps, in id order. An epoch has size() places. A place
// is one sample or, if samples take turns, a group of samples of which an epoch uses one.
struct SampleSet {
  std::vector<SampleId> ids;
  std::vector<float> weights;  // loss weight of each id
  // Place p has the samples turn_rows[turn_offsets[p] .. turn_offsets[p + 1]), ascending indices
  // into ids. Places are ordered by their first samples. Both arrays are empty if place p is sample
  // p.
  std::vector<std::uint32_t> turn_offsets = {};
  std::vector<std::uint32_t> turn_rows = {};

  std::size_t size() const noexcept {
    return turn_offsets.empty() ? ids.size() : turn_offsets.size() - 1;
  }
};

// Throws UsageError if the cache holds no images, only fingerprints.
void check_holds_images(const Cache& cache);

// The samples of `split` with a weight above 0 in the selection; with an empty `selection` all of
// the split, with weight 1. In mode kOnePerGroup, an epoch uses one of the samples that have the
// same representative.
// Errors  UsageError if no sample is left, or the cache has fingerprints only. FormatError as
//         Cache, and if the selection has other samples than the cache.
SampleSet select_samples(const Cache& cache, Split split, const std::string& selection);

// Makes a set in which an epoch uses one of the samples with equal `stands_for`, an array parallel
// to `ids`.
SampleSet take_turns(std::vector<SampleId> ids, std::vector<float> weights,
                     std::span<const SampleId> stands_for);

// The row (index into ids) of the first sample of `place` (a sample or group). Ascends with the
// place.
std::size_t first_row(const SampleSet& samples, std::size_t place) noexcept;

// The row (index into ids) of the sample that is used when `place` occurs for the `turn`-th time,
// counted from zero. In each block of as many turns as the place has samples, each sample is used
// once, in an order that is a pure function of (seed, block, first id).
std::size_t row_at(const SampleSet& samples, std::size_t place, std::uint64_t seed,
                   std::uint64_t turn);

}  // namespace winnow::pipeline
