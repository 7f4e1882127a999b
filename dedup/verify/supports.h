#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/verify/candidates.h"

namespace winnow::dedup {

// Hits (pairs of similar landmarks of two pictures) with their support: how many other landmarks of
// both pictures lie where the hit predicts.
struct SupportedHits {
  std::vector<Hit> hits;               // sorted
  std::vector<std::uint8_t> supports;  // support of each hit, 0 to 8
};

// Computes the support of each hit. A pure function of each hit. Parallel.
// Errors  StoppedError.
std::vector<std::uint8_t> count_supports(const LandmarkTable& landmarks, std::span<const Hit> hits,
                                         const StopRequested& stop = {});

// Selects, from the hits between two pictures, those with enough support to try a registration;
// most supported first.
std::vector<Hit> worth_trying(std::span<const Hit> hits, std::span<const std::uint8_t> supports);

}  // namespace winnow::dedup
