#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/verify/landmark_table.h"
#include "dedup/verify/match_model.h"

namespace winnow::dedup {

// Two rows that show the same picture, or parts of it, by comparing their pictures.
struct VerifiedPair {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  float probability = 0;
  Affine map;  // from a to b; x and y of both as shares of width and height
  // Whether the pictures have too little detail to compare; the pair is kept because its hash codes
  // are near.
  bool lacks_details = false;
  bool is_shown = false;  // whether only scale, compression, tone and noise differ (look_closer)
};

// A guess of how to align two pictures: a landmark (keypoint) of each that may show the same thing.
struct Guess {
  Place of_a;
  Place of_b;
  bool is_mirrored = false;
};

// Two pictures to be registered (aligned). Guesses are tried until one is surely right.
struct Trial {
  std::uint32_t row_a = 0;  // < row_b
  std::uint32_t row_b = 0;
  bool is_near = false;  // hash codes are near: aligning the whole pictures is tried, too
  std::vector<Guess> guesses = {};
  std::optional<Affine> map = {};  // a further guess: from a to b, in shares of their sides
};

// Registers the two pictures of each trial and judges the result by `model`. Returns the pair of
// each trial, in order. A pure function of each trial. Parallel.
// Errors  StoppedError, and exceptions of `pictures`.
std::vector<VerifiedPair> judge(std::span<const Trial> trials, const PictureSource& pictures,
                                const MatchModel& model, const StopRequested& stop = {});

}  // namespace winnow::dedup
