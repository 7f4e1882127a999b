#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/stop.h"
#include "dedup/verify/landmark_table.h"
#include "dedup/verify/match_model.h"

namespace winnow::dedup {

// A verification model, which gives the probability that two aligned pictures are one, fitted to a
// cache's own pictures. A score is the log odds of that probability.
struct Calibration {
  MatchModel model;
  std::uint64_t same = 0;            // examples of edited pictures
  std::uint64_t non_duplicates = 0;  // examples of different pictures
  // Median score of a picture and its edited copy; nullopt if there are too few examples.
  std::optional<double> copies = {};
  // Tail of the scores of different pictures: above `tail_from`, their number falls by the factor e
  // every `tail_scale`.
  double tail_from = 0;
  // Share of registered pairs of different pictures with scores above tail_from.
  double tail_share = 0;
  double tail_scale = 1;

  // How many of `registered` registered pairs of different pictures are expected to reach the
  // probability, by the tail.
  double expected_false(double registered, double least_probability) const noexcept;
  // The smallest probability that at most `most_false` of `registered` pairs of different pictures
  // are expected to reach: 0.5 to 0.9999.
  double least_probability(double registered, double most_false) const noexcept;
};

// Fits a verification model to the pictures of these rows.
//
// Same       Up to 160 rows are drawn. Each picture is edited as people edit pictures: cropped by
//            up to 40 % of a side, turned by up to 10 degrees, mirrored, lightened or darkened,
//            covered by up to a quarter, compressed strongly. Picture and edit are registered
//            (aligned) by their landmarks.
// Different  Pairs of different pictures are registered by their nearest landmarks. In half of the
//            pairs, a fifth of both pictures is replaced by one strip, like a common caption. Pairs
//            that would pass for one picture are excluded, because the cache may have copies.
// Fallback   With fewer than 20 pictures that have landmarks: known_model().
// Errors     StoppedError.
// Deterministic: depends on the rows, the pictures and the seed.
Calibration calibrate(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                      std::uint64_t seed = 0, const StopRequested& stop = {});

// Average number of landmarks of a picture, over those that calibrate() draws; 0 if there are none.
double landmarks_a_picture(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                           std::uint64_t seed = 0);

}  // namespace winnow::dedup
