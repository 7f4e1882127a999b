#include "train/optim/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "common/error.h"

namespace winnow::train {

Decay parse_decay(std::string_view name) {
  if (name == "poly") return Decay::kPoly2;
  if (name == "cosine") return Decay::kCosine;
  if (name == "constant") return Decay::kConstant;
  throw UsageError("unknown schedule '" + std::string(name) + "'; known: poly, cosine, constant");
}

double rate_at(const LearningRate& s, std::int64_t step) noexcept {
  if (step < s.warmup_steps) {
    return s.base * static_cast<double>(step + 1) / static_cast<double>(s.warmup_steps);
  }
  const double span =
      static_cast<double>(std::max<std::int64_t>(1, s.total_steps - s.warmup_steps));
  const double u = std::min(1.0, static_cast<double>(step - s.warmup_steps) / span);
  switch (s.decay) {
    case Decay::kPoly2:
      return s.end + (s.base - s.end) * (1 - u) * (1 - u);
    case Decay::kCosine:
      return s.end + (s.base - s.end) * (1 + std::cos(std::numbers::pi * u)) / 2;
    case Decay::kConstant:
      break;
  }
  return s.base;
}

}  // namespace winnow::train
