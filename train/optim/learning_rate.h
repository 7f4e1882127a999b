#pragma once

#include <cstdint>
#include <string_view>

namespace winnow::train {

enum class Decay { kPoly2, kCosine, kConstant };
Decay parse_decay(std::string_view name);  // "poly", "cosine", "constant"; UsageError

struct LearningRate {
  double base = 0.1;
  double end = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  Decay decay = Decay::kPoly2;
};

// The rate of step t = 0, 1, ...: base (t+1)/warmup while t < warmup (Goyal et al. 2017); then,
// with u = (t - warmup) / (total - warmup), end + (base - end) (1 - u)^2 (LARS's poly-2, restarted
// after the warm-up as MLPerf does) or end + (base - end) (1 + cos(pi u)) / 2.
double rate_at(const LearningRate& schedule, std::int64_t step) noexcept;

}  // namespace winnow::train
