#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/verify/candidates.h"

namespace winnow::dedup {

// Hits with their support: how many other landmarks of the two pictures lie where the hit predicts.
struct SupportedHits {
  std::vector<Hit> hits;               // sorted
  std::vector<std::uint8_t> supports;  // for each hit; at most 8
};

// The support of each hit. A pure function of each. Parallel.
// Errors  StoppedError.
std::vector<std::uint8_t> count_supports(const LandmarkTable& landmarks, std::span<const Hit> hits,
                                         const StopRequested& stop = {});

// The hits of one pair of pictures with enough support to try a registration, most supported first.
std::vector<Hit> worth_trying(std::span<const Hit> hits, std::span<const std::uint8_t> supports);

}  // namespace winnow::dedup
