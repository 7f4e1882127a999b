#pragma once

#include <cstdint>
#include <cstring>

#include "train/tensor/device_function.h"

// IEEE 754 binary16 and f32, on the host and on the card: 1 bit sign, 5 bits exponent, 10 bits
// fraction. Largest 65504, smallest normal 2^-14, smallest 2^-24.
namespace winnow::train {

// Rounded to nearest, ties to even. Subnormal numbers are kept, magnitudes from 65520 on are
// infinite, and a NaN stays one.
WINNOW_DEVICE_FN std::uint16_t f16_of(float value) {
#ifdef __CUDA_ARCH__
  std::uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
#else
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0x7c00U;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14: the sum's last bit is worth 2^-24
    float sum;
    std::memcpy(&sum, &magnitude, sizeof sum);
    sum += 0.5F;
    std::memcpy(&half, &sum, sizeof half);
    half -= 0x3f000000U;
  } else if (magnitude < 0x47800000U) {  // below 2^16: rounding may carry into infinity
    half = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
#endif
}

// Exact.
WINNOW_DEVICE_FN float f32_of_f16(std::uint16_t half) {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
#else
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  std::uint32_t bits = (magnitude << 13) + 0x38000000U;  // 2^(127 - 15) of the exponents
  if (magnitude >= 0x7c00U) {
    bits += 0x38000000U;  // infinity, NaN
  } else if (magnitude < 0x0400U) {
    const float small = static_cast<float>(magnitude) * 0x1p-24F;
    std::memcpy(&bits, &small, sizeof bits);
  }
  bits |= sign;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

}  // namespace winnow::train
