#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>

namespace winnow::train {

// sum[i] += term[i].
template <class T>
void add_to(std::span<T> sum, std::span<const T> term) {
  std::ranges::transform(sum, term, sum.begin(), std::plus<>());
}

// Whether none is NaN or infinite: the largest of the biased exponents tells, so that the loop has
// no branch.
inline bool all_finite(std::span<const float> values) noexcept {
  constexpr std::uint32_t kExponent = 0x7f80'0000;
  std::uint32_t largest = 0;
  for (const float v : values) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(v) & kExponent);
  }
  return largest < kExponent;
}

}  // namespace winnow::train
