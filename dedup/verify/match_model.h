#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "dedup/verify/registration.h"

namespace winnow::dedup {

// Input of a verification model: seven finite numbers that describe how well two registered
// pictures agree. The last one is 1 (bias).
using MatchFeatures = std::array<double, 7>;
MatchFeatures features_of(const Evidence& evidence) noexcept;

// A registered pair of pictures of which is known whether both are one.
struct MatchExample {
  MatchFeatures features{};
  bool is_same = false;
};

// Verification model: a logistic regression for the probability that two registered pictures are
// one.
struct MatchModel {
  MatchFeatures weights{};

  double score(const MatchFeatures& features) const noexcept;   // log odds
  double probability(const Evidence& evidence) const noexcept;  // 0 if the overlap is too small
};

// The default model, fitted to edited pictures and different pictures of tests/bench/edits. Used if
// a cache has too few pictures to fit one.
const MatchModel& known_model() noexcept;

// Fits a model to examples, regularised towards known_model() with strength `hold`, so that few
// examples change little. Newton's method. Deterministic.
MatchModel fit_model(std::span<const MatchExample> examples, double hold = 1);

// Pairs whose pictures overlap less than this share have probability 0.
inline constexpr double kLeastOverlap = 0.25;

}  // namespace winnow::dedup
