#pragma once

#include <cstdint>
#include <vector>

#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

struct ClassCount {
  std::uint32_t label;  // number of a class
  std::uint32_t count;  // its samples
};

inline constexpr std::size_t kMostParts = 100;
inline constexpr std::uint8_t kAnyPart = 255;

// Samples in blocks, which are never cut, to be distributed to parts with a share of each class.
struct StratifyInput {
  std::vector<double> shares;  // for each part, 1 to kMostParts parts: each above 0, sum 1
  std::uint32_t classes = 0;   // numbered from 0
  // The classes of each block: ascending, without repeats, counts above 0. A sample of several
  // classes counts in each; every sample has at least one.
  Ragged<ClassCount> blocks;
  std::vector<std::uint32_t> samples;  // in each block
  std::vector<std::uint8_t> parts;     // the part that each block must go to, or kAnyPart
  std::vector<std::uint64_t> keys;     // random numbers of the blocks; they break ties
  // The preferred part of each block, or kAnyPart; empty: no preferences.
  std::vector<std::uint8_t> wishes;
};

// The part of each block. Pure: depends on the input only.
//
// Single samples  A class whose samples are alone in their blocks and have one class each gets its
//                 exact share in every part, rounded up or down. Classes are rounded so that the
//                 parts also reach their shares of all samples.
// Other classes   Larger blocks, relative to their classes, are placed first, each where its
//                 classes lack most, relatively (similar to Sechidis, Tsoumakas and Vlahavas 2011,
//                 who place the rarest label first). Single samples level the rest. Blocks of one
//                 class each thus cause an error below the largest block.
// Repair          If a class is still off by more than one and there are at most three parts, the
//                 best of all sums that its blocks can make is taken, if there are few enough to
//                 enumerate. Then blocks are exchanged while that helps, for at most a second or
//                 two.
// Sizes           Shares of classes come before sizes of parts, but no part deviates from its size
//                 by more than a quarter, or the largest block.
// Preferences     Break ties: a block goes to its preferred part while none of its classes has its
//                 share there. Among the single samples of a class, those that prefer a part come
//                 first.
std::vector<std::uint8_t> assign_stratified(const StratifyInput& input);

}  // namespace winnow::dedup
