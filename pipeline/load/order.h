#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "common/sample.h"

namespace winnow::pipeline {

// A permutation of [0, n) that is a pure function of (seed, epoch): a Feistel network over the next
// even power of two (2^8 at least, for less is not uniform) with cycle walking (Black and Rogaway
// 2002), rounds keyed by Philox. O(1) state; from n = 64 an index walks at most four times on
// average. The values fix what a seed means: never change them.
class EpochOrder {
 public:
  // UsageError if n is 0. `use` and `part`: for permutations beside those of the epochs.
  EpochOrder(std::uint64_t n, std::uint64_t seed, std::uint32_t epoch,
             RandomUse use = RandomUse::kOrder, std::uint32_t part = 0);
  std::uint64_t operator[](std::uint64_t index) const noexcept;  // index < n
  std::uint64_t index_of(std::uint64_t value) const noexcept;    // the inverse; value < n

 private:
  std::uint64_t mixed(std::uint32_t round, std::uint64_t half) const noexcept;

  std::uint64_t n_;
  std::uint64_t seed_;
  std::uint32_t epoch_;
  RandomUse use_;
  std::uint32_t part_;
  int half_bits_;
};

// Training data is one stream: the concatenation of the permutations of epochs 0, 1, 2 ... Global
// batch b is positions [b*B, (b+1)*B) of it, so no batch is short, and it depends on no rank.
// Throws UsageError if n is 0.
struct StreamSample {
  std::uint32_t epoch;
  std::uint64_t index;  // into the selected ids
};
std::vector<StreamSample> stream(std::uint64_t n, std::uint64_t seed, std::uint64_t begin,
                                 std::uint64_t count);

// Which of `count` things that take turns has the `turn`-th, from 0: over each block of `count`
// turns (from a multiple of it on) every one once, in an order that is a pure function of (seed,
// block, id, use). Constant 0 for one. `count` is 1 at least; takes time in proportion to it.
int turn_at(std::uint64_t seed, std::uint64_t turn, SampleId id, int count, RandomUse use);

// Which of the variants of a sample an epoch sees: by turns, RandomUse::kVariant.
int variant_at(std::uint64_t seed, std::uint32_t epoch, SampleId id, int variants);

// Rank r's contiguous run [first, second) of `parts` equal parts; counts differ by at most one.
// Throws UsageError for a rank outside [0, ranks) or negative parts.
std::pair<std::int64_t, std::int64_t> share(std::int64_t parts, int rank, int ranks);

}  // namespace winnow::pipeline
