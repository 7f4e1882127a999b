#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/verify/landmark_table.h"
#include "dedup/verify/match_model.h"

namespace winnow::dedup {

// Two rows that show the same picture, or parts of it.
struct VerifiedPair {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  float probability = 0;
  Affine map;  // from a to b, both in shares of their width and height
  // Codes are near and decide, because the pictures have too little detail.
  bool lacks_details = false;
  bool is_shown = false;  // differs only by scale, compression, tone and noise (look_closer)
};

// A landmark of one picture that may correspond to one of the other.
struct Guess {
  Place of_a;
  Place of_b;
  bool is_mirrored = false;
};

// Two pictures to be registered, by each guess until one is surely right.
struct Trial {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  bool is_near = false;  // by codes: also tries to align the whole pictures
  std::vector<Guess> guesses = {};
  std::optional<Affine> map = {};  // from a to b in shares of their sides: a further guess
};

// The verified pair of each trial, in order. A pure function of each trial. Parallel.
// Errors  StoppedError, and what `pictures` throws.
std::vector<VerifiedPair> judge(std::span<const Trial> trials, const PictureSource& pictures,
                                const MatchModel& model, const StopRequested& stop = {});

}  // namespace winnow::dedup
