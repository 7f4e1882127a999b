#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/verify/judge.h"
#include "dedup/verify/supports.h"

namespace winnow::dedup {

// The pairs worth registering, among those with hits (similar landmarks) or near hash codes.
struct Trials {
  std::vector<Trial> trials;  // sorted by rows
  std::vector<int> supports;  // for each trial, the greatest support of one of its hits
  std::uint64_t candidates = 0;
};

// Selects the pairs worth registering, among those with these hits or with near hash codes (`near`,
// sorted).
// In a crowd of similar pictures nearly every pair has hits. Therefore each picture keeps its 64
// most promising pairs, and all with near hash codes. Beyond most_trials(), doubtful trials are
// dropped first.
Trials trials_of(const LandmarkTable& landmarks, const SupportedHits& found,
                 std::span<const Edge> near);

// Maximum number of trials for this many pictures; beyond it, doubtful trials are dropped.
std::size_t most_trials(std::size_t pictures) noexcept;
// Trials with less support than this are doubtful: one in a thousand of them is confirmed.
inline constexpr int kDoubtfulSupport = 4;

}  // namespace winnow::dedup
