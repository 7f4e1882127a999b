#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace winnow {

// 16-bit floats for storage and transfer. Arithmetic uses f32.
//
// Rounding  From f32 to the nearest, ties to even. NaN stays NaN (quiet), infinities and signs are
//           kept, subnormals are supported. Too large values become infinity.
struct BF16 {
  std::uint16_t bits = 0;  // upper 16 bits of the f32
  friend bool operator==(const BF16&, const BF16&) = default;
};
struct F16 {
  std::uint16_t bits = 0;  // IEEE 754 binary16
  friend bool operator==(const F16&, const F16&) = default;
};

constexpr float to_float(BF16 value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U);
}

constexpr BF16 to_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const std::uint32_t even = (bits >> 16U) & 1U;
  const std::uint32_t rounded = (bits + 0x7fffU + even) >> 16U;
  return {static_cast<std::uint16_t>(nan ? (bits >> 16U) | 0x40U : rounded)};
}

constexpr float to_float(F16 value) noexcept {
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  const std::uint32_t sign = (value.bits & 0x8000U) << 16U;
  constexpr std::uint32_t kRebias = (127U - 15U) << 23U;
  if (magnitude < 0x400U) {  // zero or subnormal: a multiple of 2^-24
    const float exact = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(exact) | sign);
  }
  const std::uint32_t bits = (magnitude << 13U) + kRebias + (magnitude >= 0x7c00U ? kRebias : 0U);
  return std::bit_cast<float>(bits | sign);
}

constexpr F16 to_f16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U | ((magnitude >> 13U) & 0x3ffU);
  } else if (magnitude >= 0x477ff000U) {  // halfway between the largest value, 65504, and 2^16
    half = 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14: in units of 2^-24, obtained by adding 1/2
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    half = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13U) & 1U)) >> 13U;
  }
  return {static_cast<std::uint16_t>(half | ((bits >> 16U) & 0x8000U))};
}

// Rounds an f32 to the type `Small`: like to_bf16() or to_f16().
template <class Small>
constexpr Small round_to(float value) noexcept {
  if constexpr (std::is_same_v<Small, BF16>) {
    return to_bf16(value);
  } else {
    static_assert(std::is_same_v<Small, F16>);
    return to_f16(value);
  }
}

}  // namespace winnow
