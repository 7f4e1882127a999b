#pragma once

#include <cstdint>

#include "common/small_float.h"
#include "train/tensor/device_function.h"

// Conversions between f32 and f16, on host and device. Results are equal to those of
// common/small_float.h.
namespace winnow::train {

WINNOW_DEVICE_FN std::uint16_t f16_of(float value) {
#ifdef __CUDA_ARCH__
  std::uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
#else
  return to_f16(value).bits;
#endif
}

// Converts f16 to f32; exact.
WINNOW_DEVICE_FN float f32_of_f16(std::uint16_t half) {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
#else
  return to_float(F16{half});
#endif
}

}  // namespace winnow::train
