#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/verify/judge.h"
#include "dedup/verify/supports.h"

namespace winnow::dedup {

// The pairs worth registering, among those with near landmarks or near codes.
struct Trials {
  std::vector<Trial> trials;  // sorted by rows
  std::vector<int> supports;  // for each trial, the greatest support of one of its landmarks
  std::uint64_t candidates = 0;
};

// Trials of pairs with these hits or with near codes (`near`, sorted).
// In a crowd of similar pictures each pair would be tried. Therefore each picture keeps its 64 most
// promising pairs, and all that are near by codes. Beyond most_trials(), doubtful trials are
// dropped first.
Trials trials_of(const LandmarkTable& landmarks, const SupportedHits& found,
                 std::span<const Edge> near);

// Maximum number of trials for this many pictures, before doubtful ones are dropped.
std::size_t most_trials(std::size_t pictures) noexcept;
// Trials with less support are doubtful: one in a thousand is confirmed.
inline constexpr int kDoubtfulSupport = 4;

}  // namespace winnow::dedup
