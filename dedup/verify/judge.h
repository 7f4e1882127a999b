#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/verify/landmark_table.h"
#include "dedup/verify/match_model.h"

namespace winnow::dedup {

// Two rows that show one picture, or parts of it.
struct VerifiedPair {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  float probability = 0;
  Affine map;                  // of a to b, both in shares of their width and height
  bool lacks_details = false;  // and is near by codes, which decide where this does not
  bool is_shown = false;  // nothing but scale, compression, tone and noise differs (look_closer)
};

// A landmark of one picture that may be one of another.
struct Guess {
  Place of_a;
  Place of_b;
  bool is_mirrored = false;
};

// Two pictures to be laid upon each other: by each guess, until one is surely right.
struct Trial {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  bool is_near = false;  // by codes: also whole upon whole
  std::vector<Guess> guesses = {};
  std::optional<Affine> map = {};  // of a to b in shares of their sides: another guess
};

// What each trial comes to, in their order. A pure function of each. Parallel.
// Errors: StoppedError, and what `pictures` throws.
std::vector<VerifiedPair> judge(std::span<const Trial> trials, const PictureSource& pictures,
                                const MatchModel& model, const StopRequested& stop = {});

}  // namespace winnow::dedup
