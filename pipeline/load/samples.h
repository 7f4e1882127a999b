#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"

namespace winnow::pipeline {

class Cache;

// The samples of one split that a selection keeps, in id order. An epoch has size() places: one a
// sample or, if samples take turns, one a group of them.
struct SampleSet {
  std::vector<SampleId> ids;
  std::vector<float> weights;  // one for each id
  // Place p has the samples turn_rows[turn_offsets[p] .. turn_offsets[p + 1]), ascending indices
  // into ids. Places are ordered by their first samples. Both empty: place p is sample p.
  std::vector<std::uint32_t> turn_offsets = {};
  std::vector<std::uint32_t> turn_rows = {};

  std::size_t size() const noexcept {
    return turn_offsets.empty() ? ids.size() : turn_offsets.size() - 1;
  }
};

// Throws UsageError if the cache has fingerprints only.
void check_holds_images(const Cache& cache);

// The samples used in `split` with a weight above 0; with an empty `selection` all of them, with
// weight 1. In mode kOnePerGroup, samples with one representative take turns.
// Errors  UsageError if nothing is left, or the cache has fingerprints only. FormatError as Cache,
//         and if the selection has other samples than the cache.
SampleSet select_samples(const Cache& cache, Split split, const std::string& selection);

// Lets samples with the same `stands_for` take turns; it has one entry for each of `ids`.
SampleSet take_turns(std::vector<SampleId> ids, std::vector<float> weights,
                     std::span<const SampleId> stands_for);

// The row (index into ids) of the first sample of `place`. Ascends with the place.
std::size_t first_row(const SampleSet& samples, std::size_t place) noexcept;

// The row (index into ids) whose turn it is when `place` occurs for the `turn`-th time, from 0. In
// each block of as many turns as the place has samples, each has one, in an order that is a pure
// function of (seed, block, first id).
std::size_t row_at(const SampleSet& samples, std::size_t place, std::uint64_t seed,
                   std::uint64_t turn);

}  // namespace winnow::pipeline
