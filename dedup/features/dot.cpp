#include <array>

#include "dedup/features/unit_vectors.h"

namespace winnow::dedup {

// Exactly kLanes sums on every processor, because the compiler must not change the order of
// additions.
float dot(std::span<const float> a, std::span<const float> b) noexcept {
  constexpr std::size_t kLanes = UnitVectors::kLanes;
  std::array<float, kLanes> sums{};
  const float* const x = a.data();
  const float* const y = b.data();
  for (std::size_t i = 0; i < a.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += x[i + lane] * y[i + lane];
  }
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

}  // namespace winnow::dedup
