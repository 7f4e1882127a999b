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

// Samples to be distributed to parts such that each class is divided in the same shares. Samples of
// one block stay together.
struct StratifyInput {
  std::vector<double> shares;  // by part: its share, above 0; 1 to kMostParts parts, sum 1
  std::uint32_t classes = 0;   // numbered from 0
  // For each block the number of its samples of each class, by ascending class, counts above 0. A
  // sample of several classes counts in each; every sample has at least one class.
  Ragged<ClassCount> blocks;
  std::vector<std::uint32_t> samples;  // in each block
  std::vector<std::uint8_t> parts;     // by block: the part it must go to, or kAnyPart
  std::vector<std::uint64_t> keys;     // by block: a random number, which decides ties
  // By block: the part that it should go to if possible, or kAnyPart. Empty: no preferences.
  std::vector<std::uint8_t> wishes;
};

// Chooses the part of each block. Pure: depends on the input only.
//
// Single samples  A class whose samples are alone in their blocks and have one class each gets its
//                 exact share in every part, rounded up or down. Rounding is chosen such that the
//                 parts also reach their shares of all samples.
// Other classes   Blocks that are large compared with their classes are placed first. Each goes to
//                 the part where its classes lack most, relatively. Similar to Sechidis, Tsoumakas
//                 and Vlahavas 2011, who place the rarest label first. Single samples then even out
//                 the parts. If blocks have one class each, the error is thus below the largest
//                 block.
// Repair          If a class still misses its share by more than one sample and there are at most
//                 three parts, the best of all sums of its blocks is taken, if these are few enough
//                 to enumerate. Then blocks are exchanged while that helps, for at most a second or
//                 two.
// Sizes           Shares of classes come before sizes of parts, but no part deviates from its size
//                 by more than a quarter, or by more than the largest block.
// Preferences     Decide ties: a block goes to its preferred part while none of its classes has its
//                 full share there. Among the single samples of a class, those that prefer a part
//                 come first.
std::vector<std::uint8_t> assign_stratified(const StratifyInput& input);

}  // namespace winnow::dedup
