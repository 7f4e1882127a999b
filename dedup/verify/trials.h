#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/verify/judge.h"
#include "dedup/verify/supports.h"

namespace winnow::dedup {

// The pairs that are worth a trial, of so many that have near landmarks or near codes.
struct Trials {
  std::vector<Trial> trials;  // sorted by rows
  std::vector<int> supports;  // of each, the most that a landmark of it has
  std::uint64_t candidates = 0;
};

// Trials of pairs with these hits or with near codes (`near`, sorted). Of a crowd of pictures that
// look alike each would be tried with each: of each picture the 64 are left that promise most, and
// all that are near by codes. Where there are more than most_trials(), doubtful ones go first.
Trials trials_of(const LandmarkTable& landmarks, const SupportedHits& found,
                 std::span<const Edge> near);

// How many trials of so many pictures are left before doubtful ones go.
std::size_t most_trials(std::size_t pictures) noexcept;
// A trial that fewer landmarks support is doubtful: one in a thousand comes to anything.
inline constexpr int kDoubtfulSupport = 4;

}  // namespace winnow::dedup
