#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/stop.h"
#include "dedup/verify/landmark_table.h"
#include "dedup/verify/match_model.h"

namespace winnow::dedup {

// The verification model fitted to a cache's own pictures.
struct Calibration {
  MatchModel model;
  std::uint64_t same = 0;            // examples of edited pictures
  std::uint64_t non_duplicates = 0;  // examples of different pictures
  // Median score of `same`; nullopt if there are too few.
  std::optional<double> copies = {};
  // Tail of the scores of different pictures: beyond `tail_from` they fall by the factor e every
  // `tail_scale`.
  double tail_from = 0;
  double tail_share = 0;  // share of registered pairs of different pictures beyond tail_from
  double tail_scale = 1;

  // Expected number of registered pairs of different pictures that reach a probability, according
  // to the tail.
  double expected_false(double registered, double least_probability) const noexcept;
  // The smallest probability that at most `most_false` of them are expected to reach: 0.5 to
  // 0.9999.
  double least_probability(double registered, double most_false) const noexcept;
};

// Fits a verification model to the pictures of these rows.
//
// Same       Up to 160 rows are drawn. Each is edited as people edit pictures: cropped by up to 40
//            % of a side, turned by up to 10 degrees, mirrored, lightened or darkened, covered by
//            up to a quarter, compressed strongly. Picture and edit are registered by their
//            landmarks.
// Different  Pairs of different pictures are registered by their nearest landmarks. In half of the
//            pairs, a fifth of both pictures is replaced by one strip, like a common caption. Pairs
//            that already pass for one picture are excluded, because the cache may have copies.
// Fallback   Fewer than 20 pictures with landmarks: known_model().
// Errors     StoppedError.
// Deterministic: depends on the rows, the pictures and the seed.
Calibration calibrate(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                      std::uint64_t seed = 0, const StopRequested& stop = {});

// Average number of landmarks of the pictures that calibrate() draws; 0 if there are none.
double landmarks_a_picture(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                           std::uint64_t seed = 0);

}  // namespace winnow::dedup
