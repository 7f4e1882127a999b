#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "dedup/verify/registration.h"

namespace winnow::dedup {

// What a registration says of whether two pictures are one: seven numbers, all finite.
// The last is 1.
using MatchFeatures = std::array<double, 7>;
MatchFeatures features_of(const Evidence& evidence) noexcept;

// A registration of which it is known whether the pictures are one.
struct MatchExample {
  MatchFeatures features{};
  bool is_same = false;
};

// The probability that two pictures are one, by logistic regression.
struct MatchModel {
  MatchFeatures weights{};

  double score(const MatchFeatures& features) const noexcept;   // log odds
  double probability(const Evidence& evidence) const noexcept;  // 0 where too little overlaps
};

// Fitted on the edits and strangers of tests/bench/edits: what holds where a cache has too few
// pictures to say for itself.
const MatchModel& known_model() noexcept;

// Fits the examples of a cache, held to the known model by `hold`, so that few of them change
// little. By Newton's method. Deterministic.
MatchModel fit_model(std::span<const MatchExample> examples, double hold = 1);

// Less overlap than this is never taken for one picture.
inline constexpr double kLeastOverlap = 0.25;

}  // namespace winnow::dedup
