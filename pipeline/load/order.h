#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "common/sample.h"

namespace winnow::pipeline {

// A pseudo-random permutation of [0, n) as a pure function of seed and epoch. Needs O(1) memory.
// Method  A Feistel network over the next even power of two (at least 2^8, because fewer values are
//         not uniform), with cycle walking (Black and Rogaway 2002) and rounds keyed by Philox.
//         From n = 64 on an index walks at most four times on average.
// Stable  The values define the meaning of a seed: never change them.
class EpochOrder {
 public:
  // Throws UsageError if n is 0. `use` and `part` select permutations for other uses than epochs.
  EpochOrder(std::uint64_t n, std::uint64_t seed, std::uint32_t epoch,
             RandomUse use = RandomUse::kOrder, std::uint32_t part = 0);
  // Value of the permutation at an index below n.
  std::uint64_t operator[](std::uint64_t index) const noexcept;
  // Inverse of the permutation: the index of a value below n.
  std::uint64_t index_of(std::uint64_t value) const noexcept;

 private:
  std::uint64_t mixed(std::uint32_t round, std::uint64_t half) const noexcept;

  std::uint64_t n_;
  std::uint64_t seed_;
  std::uint32_t epoch_;
  RandomUse use_;
  std::uint32_t part_;
  int half_bits_;
};

// Training data as one stream: the permutations of epochs 0, 1, 2 ... one after the other. Global
// batch b has positions [b*B, (b+1)*B), so that no batch is short, and none depends on the number
// of ranks.
// Errors  UsageError if n is 0.
struct StreamSample {
  std::uint32_t epoch;
  std::uint64_t index;  // index into the selected ids
};
std::vector<StreamSample> stream(std::uint64_t n, std::uint64_t seed, std::uint64_t begin,
                                 std::uint64_t count);

// Which of `count` (>= 1) items is used in turn number `turn`, counted from 0. In each block of
// `count` turns every item is used once, in an order that is a pure function of (seed, block, id,
// use). 0 if `count` is 1. Takes time proportional to `count`.
int turn_at(std::uint64_t seed, std::uint64_t turn, SampleId id, int count, RandomUse use);

// Which stored variant of a sample an epoch uses: turn_at() with RandomUse::kVariant.
int variant_at(std::uint64_t seed, std::uint32_t epoch, SampleId id, int variants);

// The contiguous range [first, second) of `parts` items for one rank, if all ranks get equally
// many; counts differ by at most one.
// Errors  UsageError for a rank outside [0, ranks) or negative parts.
std::pair<std::int64_t, std::int64_t> share(std::int64_t parts, int rank, int ranks);

}  // namespace winnow::pipeline
