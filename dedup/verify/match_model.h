#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "dedup/verify/registration.h"

namespace winnow::dedup {

// Features of a registration for deciding whether two pictures are one: seven finite numbers. The
// last one is 1 (bias).
using MatchFeatures = std::array<double, 7>;
MatchFeatures features_of(const Evidence& evidence) noexcept;

// A registration with known truth.
struct MatchExample {
  MatchFeatures features{};
  bool is_same = false;
};

// Logistic regression for the probability that two pictures are one.
struct MatchModel {
  MatchFeatures weights{};

  double score(const MatchFeatures& features) const noexcept;   // log odds
  double probability(const Evidence& evidence) const noexcept;  // 0 if the overlap is too small
};

// The default model, fitted to the edits and different pictures of tests/bench/edits. Used if a
// cache has too few pictures.
const MatchModel& known_model() noexcept;

// Fits a model to the examples of a cache, regularised towards the known model by `hold`, so that
// few examples change little. Newton's method. Deterministic.
MatchModel fit_model(std::span<const MatchExample> examples, double hold = 1);

// Minimum overlap of a verified pair.
inline constexpr double kLeastOverlap = 0.25;

}  // namespace winnow::dedup
