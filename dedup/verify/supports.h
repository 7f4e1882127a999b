#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/verify/candidates.h"

namespace winnow::dedup {

// Hits, and how many other landmarks of the two pictures lie where they would if the hit is right.
struct SupportedHits {
  std::vector<Hit> hits;               // sorted
  std::vector<std::uint8_t> supports;  // of each; 8 at most
};

// The supports of hits. A pure function of each. Parallel. Throws StoppedError.
std::vector<std::uint8_t> count_supports(const LandmarkTable& landmarks, std::span<const Hit> hits,
                                         const StopRequested& stop = {});

// Of one pair of pictures, hits with enough support to lay one upon the other by: those with most
// first.
std::vector<Hit> worth_trying(std::span<const Hit> hits, std::span<const std::uint8_t> supports);

}  // namespace winnow::dedup
