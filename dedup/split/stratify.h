#pragma once

#include <cstdint>
#include <vector>

#include "dedup/fingerprints.h"

namespace winnow::dedup {

struct ClassCount {
  std::uint32_t label;  // number of a class
  std::uint32_t count;  // samples of it
};

inline constexpr std::size_t kMostParts = 100;
inline constexpr std::uint8_t kAnyPart = 255;

// Samples to be dealt out in blocks, which are never cut, to parts that want a share of each class.
struct StratifyInput {
  std::vector<double> shares;  // of the parts, 1 to kMostParts: each above 0, their sum 1
  std::uint32_t classes = 0;   // numbered from 0
  Ragged<ClassCount> blocks;   // what is in each: classes ascending, each once, counts above 0. A
                               // sample of several classes counts in each, every one in some
  std::vector<std::uint32_t> samples;  // in each block
  std::vector<std::uint8_t> parts;     // where each block must go, or kAnyPart
  std::vector<std::uint64_t> keys;     // random numbers of the blocks: who comes first of equals
  std::vector<std::uint8_t> wishes;    // where each would best go, or kAnyPart; empty: anywhere
};

// The part of each block. Pure; depends on nothing else.
//
// Of a class whose samples are all alone in their blocks and of one class each, every part gets its
// share rounded up or down, and classes are rounded so that the parts come to their shares of all
// samples as well. Other classes come as near as their blocks let them: larger blocks, in relation
// to their classes, are dealt first, each where its classes are furthest behind, relatively
// (Sechidis, Tsoumakas and Vlahavas 2011 deal the rarest label first for the same reason); single
// samples level what is left. So blocks of one class each put it off by less than its largest. If a
// class is still off by more than one and there are at most three parts, the best of all sums that
// its blocks can make is taken, where they are few enough to look at; then blocks are exchanged
// while that helps, for a second or two at most. Shares of classes come before the sizes of the
// parts, but no part gets off its own size for them by more than a quarter, or the largest block.
// Wishes decide between what is as good: a block goes where it wishes while no class of it has its
// share there, and of the singles of a class those that wish to be in a part come first.
std::vector<std::uint8_t> assign_stratified(const StratifyInput& input);

}  // namespace winnow::dedup
