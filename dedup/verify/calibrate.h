#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/stop.h"
#include "dedup/verify/landmark_table.h"
#include "dedup/verify/match_model.h"

namespace winnow::dedup {

// What a cache's own pictures say of when two are one.
struct Calibration {
  MatchModel model;
  std::uint64_t same = 0;       // examples of edited pictures
  std::uint64_t strangers = 0;  // examples of different pictures
  // The median score of `same`; nothing where they are too few to tell.
  std::optional<double> copies = {};
  // Scores of strangers beyond `tail_from` fall off by the factor e every `tail_scale`.
  double tail_from = 0;
  double tail_share = 0;  // of strangers that were registered, those beyond it
  double tail_scale = 1;

  // How many of so many registered pairs of strangers reach a probability, as far as the tail says.
  double expected_false(double registered, double least_probability) const noexcept;
  // The least probability that no more than so many are expected to reach: 0.5 to 0.9999.
  double least_probability(double registered, double most_false) const noexcept;
};

// Draws up to 160 of the rows. Each is edited by what people do to pictures: cropped by up to 40 %
// of a side, turned by up to 10 degrees, mirrored, made lighter or darker, covered by up to a
// quarter, encoded coarsely; and is laid upon its edit by their landmarks. Pairs of different
// pictures are laid upon each other by their nearest landmarks, half of them after a fifth
// of both gave way to one strip, as pictures with one caption have. The model is fitted to both.
//
// What already passes for one picture is no example of strangers: a cache may have copies.
// Fewer than 20 pictures with landmarks: the known model.
// Deterministic: depends on the rows, the pictures and the seed. Throws StoppedError.
Calibration calibrate(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                      std::uint64_t seed = 0, const StopRequested& stop = {});

// How many landmarks pictures have, on average of those that calibrate() draws; 0 of none.
double landmarks_a_picture(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                           std::uint64_t seed = 0);

}  // namespace winnow::dedup
